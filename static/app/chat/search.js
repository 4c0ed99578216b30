// Search in a conversation: newest hit first, then older ones with "previous" and back with "next".
import { LIMITS } from "../../sdk/parley/limits.js";
import { parley } from "../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed } from "../lib/notices.js";
import { Icon } from "../ui/icon.js";
import { isComposing } from "../ui/keys.js";

const WAIT_MS = 250;
const PAGE = 50;

export function SearchBar({ id, onShow, onClose }) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState(null);
  const [at, setAt] = useState(0);
  const box = useRef(null);
  const wanted = useRef("");
  const [tries, setTries] = useState(0);
  useLayoutEffect(() => {
    box.current.focus();
    // What is found after the search has been closed leads nowhere.
    return () => {
      wanted.current = null;
    };
  }, []);

  // The server reads a part of a long conversation at a time: a page without a hit need not be the last one.
  const load = async (q, before) => {
    const reply = await parley.messages.searchInside({
      conversation_id: id,
      q,
      limit: PAGE,
      ...(before ? { before } : {}),
    });
    const goesOn = reply.messages.length === 0 && reply.has_more && wanted.current === q;
    return goesOn ? load(q, reply.next_before) : reply;
  };
  useEffect(() => {
    const q = query.trim();
    wanted.current = q;
    if (!q) {
      setFound(null);
      onShow(null);
      return undefined;
    }
    const timer = setTimeout(async () => {
      try {
        const reply = await load(q);
        if (wanted.current !== q) return;
        setFound({ q, messages: reply.messages, hasMore: reply.has_more, next: reply.next_before });
        setAt(0);
        onShow(reply.messages[0]?.id ?? null, q);
      } catch (error) {
        if (wanted.current !== q) return;
        failed(error);
        setFound(null);
      }
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [query, id, tries]);

  const go = async (step) => {
    if (!found || found.messages.length === 0) return;
    let { messages } = found;
    const next = at + step;
    if (next < 0) return;
    if (next >= messages.length) {
      if (!found.hasMore) return;
      const reply = await load(found.q, found.next ?? messages.at(-1).id).catch(failed);
      // Another text may be searched for by now.
      if (!reply || wanted.current !== found.q) return;
      messages = [...messages, ...reply.messages];
      setFound({ ...found, messages, hasMore: reply.has_more, next: reply.next_before });
      if (next >= messages.length) return;
    }
    setAt(next);
    onShow(messages[next].id, found.q);
  };
  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onClose();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (found) go(event.shiftKey ? -1 : 1);
      // After a failure it searches again.
      else setTries(tries + 1);
    }
  };
  const total = found?.messages.length ?? 0;
  const count = !found
    ? ""
    : total === 0
      ? t("Nothing found")
      : t("{n} of {total}", { n: at + 1, total: found.hasMore ? `${total}+` : total });
  return html`<search class="search-bar" onKeyDown=${onKeyDown}>
    <input ref=${box} type="search" class="input" aria-label=${t("Search messages")} maxlength=${LIMITS.searchLength} placeholder=${t("Search messages")} value=${query} onInput=${(event) => setQuery(event.target.value)} />
    <span class="small muted" aria-live="polite">${count}</span>
    <button type="button" class="icon-button" aria-label=${t("Previous")} title=${t("Older")} aria-disabled=${total === 0 || (at + 1 >= total && !found.hasMore)} onClick=${() => go(1)}><${Icon} name="up" /></button>
    <button type="button" class="icon-button" aria-label=${t("Next")} title=${t("Newer")} aria-disabled=${at === 0} onClick=${() => go(-1)}><${Icon} name="down" /></button>
    <button type="button" class="icon-button" aria-label=${t("Close search")} onClick=${onClose}><${Icon} name="close" /></button>
  </search>`;
}
