// One conversation: heading, log, text box.
import { parley } from "../client.js";
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { chats, fetchChat } from "../state/chats.js";
import { edit, open, react, remove, thread } from "../state/thread.js";
import { useStore } from "../store.js";
import { useTitle } from "../title.js";
import { nameOf } from "../ui/avatar.js";
import { copyText } from "../ui/clipboard.js";
import { confirm } from "../ui/dialog.js";
import { focusIfLost } from "../ui/focus.js";
import { errorText, failed, notice } from "../ui/notices.js";
import { Blocked, useBlockedByMe } from "./blocked.js";
import { Composer } from "./composer.js";
import { Header } from "./header.js";
import { Log } from "./log.js";
import { Report } from "./report.js";
import { SearchBar } from "./search.js";

function Missing() {
  return html`<section class="conversation empty"><h1 tabindex="-1">${t("There is no such conversation")}</h1><p><a href="/app/chats">${t("Back to the chats")}</a></p></section>`;
}

export function Conversation({ id }) {
  const row = useStore(chats, (state) => state.byId[id]);
  const store = useMemo(() => thread(id), [id]);
  const state = useStore(store);
  const [missing, setMissing] = useState(false);
  const me = parley.session.userId;
  useTitle(row ? nameOf(row.other_user) : t("Chats"));

  const load = useCallback(() => {
    const ready = chats.get().byId[id] ? Promise.resolve() : fetchChat(id);
    ready.then(
      () => open(id),
      (error) => (error.status === 404 ? setMissing(true) : store.set({ failed: error })),
    );
  }, [id]);
  useEffect(load, [load]);
  useEffect(() => parley.on("status", ({ status }) => status === "online" && store.get().failed && load()), [load]);
  // Across a block neither user is told whether the other is online; what was known is not shown.
  const other = row && !row.is_blocked && row.other_user.id;
  useEffect(() => (other ? parley.presence.watch([other]) : undefined), [other]);

  if (missing) return html`<${Missing} />`;
  if (!row || !state.loaded) {
    return html`<section class="conversation empty">${state.failed
      ? html`<p>${errorText(state.failed)}</p><p><button type="button" class="button" onClick=${load}>${t("Try again")}</button></p>`
      : html`<div class="spinner" role="progressbar" aria-label=${t("Loading")}></div>`}</section>`;
  }
  return html`<${Open} key=${id} id=${id} row=${row} state=${state} me=${me} />`;
}

function Open({ id, row, state, me }) {
  const [task, setTask] = useState({});
  const [searching, setSearching] = useState(false);
  const [found, setFound] = useState(null);
  const [reporting, setReporting] = useState(null);
  const [dropping, setDropping] = useState(false);
  const log = useRef({});
  const composer = useRef({});
  const page = useRef();
  const searchButton = useRef();
  const otherName = nameOf(row.other_user);
  const names = useCallback((userId) => (userId === me ? t("You") : otherName), [me, otherName]);

  const blocked = row.is_blocked;
  const blockedByMe = useBlockedByMe(row);
  const actions = useMemo(() => ({
    me,
    blocked,
    jump: (messageId) => log.current.jump(messageId).then((there) => there || notice(t("The message no longer exists"))).catch(failed),
    reply: (message) => setTask({ reply: message }),
    edit: (message) => setTask({ editing: message }),
    react: (message, emoji) => react(message, emoji).catch(failed),
    report: (message) => setReporting(message),
    copy: (message) => copyText(message.body).then(() => notice(t("Copied")), () => notice(t("The text could not be copied"))),
    remove: async (message) => {
      const text = t("It is removed for both of you. This cannot be undone.");
      if (!(await confirm({ title: t("Delete this message?"), text, action: t("Delete"), danger: true }))) return;
      try {
        await remove(message);
        notice(t("Message deleted"));
        composer.current.focus?.();
      } catch (error) {
        failed(error);
      }
    },
  }), [me, blocked]);

  const end = useCallback((edited) => setTask((now) => (edited && now.editing !== edited ? now : {})), []);
  const editLast = async () => {
    if (state.hasNewer) await log.current.toEnd();
    const { messages, hasNewer } = thread(id).get();
    const last = !hasNewer && messages.findLast((message) => message.sender_id === me && message.kind !== "call");
    if (last) setTask({ editing: last });
  };
  useEffect(() => {
    if (matchMedia("(min-width: 720px)").matches) composer.current.focus?.();
    // On a phone the link that led here has gone with its list.
    else if (document.activeElement === document.body) page.current.querySelector("h1").focus();
  }, []);
  // The text box goes with a block, and the button that unblocks with its end: the focus does not go with them.
  const wasBlocked = useRef(blocked);
  useEffect(() => {
    if (wasBlocked.current !== blocked) focusIfLost(blocked ? page.current.querySelector("h1") : composer.current);
    wasBlocked.current = blocked;
  }, [blocked]);
  // What is answered or edited may be deleted meanwhile.
  useEffect(() => {
    const target = task.reply ?? task.editing;
    const isFurtherUp = state.hasOlder && target?.id < state.messages[0]?.id;
    if (target && !isFurtherUp && !state.hasNewer && !state.messages.some((message) => message.id === target.id)) end();
  }, [state.messages]);

  const show = (messageId) => {
    setFound(messageId);
    if (messageId) log.current.jump(messageId, { flashing: false }).catch(failed);
  };
  const closeSearch = () => {
    setSearching(false);
    setFound(null);
    searchButton.current?.focus();
  };
  const drop = {
    onDragOver: (event) => {
      if (blocked || !event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setDropping(true);
    },
    onDragLeave: (event) => !event.currentTarget.contains(event.relatedTarget) && setDropping(false),
    onDrop: (event) => {
      if (blocked || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      setDropping(false);
      composer.current.addFiles(event.dataTransfer.files);
    },
  };
  return html`<section ref=${page} class="conversation" aria-label=${otherName} ...${drop}>
    <${Header} id=${id} row=${row} name=${otherName} blockedByMe=${blockedByMe} searching=${searching} searchButton=${searchButton} onSearch=${() => (searching ? closeSearch() : setSearching(true))} />
    ${searching && html`<${SearchBar} id=${id} onShow=${show} onClose=${closeSearch} />`}
    <${Log} id=${id} state=${state} row=${row} me=${me} names=${names} actions=${actions} marked=${found} control=${log} />
    ${blocked
      ? html`<${Blocked} user=${row.other_user} mine=${blockedByMe} />`
      : html`<${Composer} id=${id} reply=${task.reply} editing=${task.editing} names=${names} onEnd=${end} onEditLast=${editLast} onSave=${edit}
          onSent=${() => {
            end();
            log.current.toEnd();
          }} control=${composer} />`}
    ${dropping && html`<div class="drop-here" aria-hidden="true"><p>${t("Drop images to send them")}</p></div>`}
    ${reporting && html`<${Report} message=${reporting} onClose=${() => setReporting(null)} />`}
  </section>`;
}
