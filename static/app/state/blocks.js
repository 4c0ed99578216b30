// The users whom this one has blocked.
import { parley } from "../client.js";

const PAGE = 100;

// All of them, newest first.
export async function loadBlocks() {
  const found = [];
  let cursor = null;
  do {
    const reply = await parley.profile.blocksList({ limit: PAGE, cursor });
    found.push(...reply.blocks);
    cursor = reply.next_cursor;
  } while (cursor);
  return found;
}
