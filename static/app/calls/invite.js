// Every button that calls.
import { parley } from "../client.js";
import { t } from "../lib/i18n.js";
import { notice } from "../lib/notices.js";
import { problemText } from "./texts.js";

export async function invite(call) {
  if (parley.status === "offline") {
    notice(t("You're offline. Call again when you're back online."), { kind: "danger" });
    return;
  }
  try {
    await parley.calls.invite(call);
  } catch (error) {
    notice(problemText(error), { kind: "danger" });
  }
}
