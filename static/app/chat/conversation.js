// One conversation: heading, log, text box.
import { invite } from "../calls/invite.js";
import { parley } from "../client.js";
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { errorText, failed, notice } from "../lib/notices.js";
import { useStore } from "../lib/store.js";
import { useTitle } from "../lib/title.js";
import { load } from "../load.js";
import { navigate } from "../router.js";
import { store } from "../state/store.js";
import { firstUnread, isLoaded, open, react, threadOf } from "../state/thread.js";
import { nameOf } from "../ui/avatar.js";
import { copyText } from "../ui/clipboard.js";
import { confirm } from "../ui/dialog.js";
import { focusIfLost } from "../ui/focus.js";
import { Loading } from "../ui/loading.js";
import { Blocked, useBlockedByMe } from "./blocked.js";
import { Composer } from "./composer.js";
import { Header } from "./header.js";
import { Log } from "./log.js";
import { Report } from "./report.js";
import { SearchBar } from "./search.js";

function Missing() {
  return html`<section class="conversation empty"><h1 tabindex="-1">${t("This conversation doesn't exist")}</h1><p><a href="/app/chats">${t("Back to the chats")}</a></p></section>`;
}

// `hit` is the message that a link leads to, if any, and `hitText` what was searched for.
export function Conversation({ id, hit, hitText }) {
  const row = useStore(store.conversations, ({ byId }) => byId[id]);
  const snapshot = useStore(store.messages(id));
  const isThere = snapshot.messages !== null;
  const state = useMemo(() => threadOf(snapshot), [snapshot.messages, snapshot.hasOlder, snapshot.hasNewer]);
  // Once it is there what is drawn begins at the first unread message; at once if it is there already.
  const [isOpen, setOpen] = useState(() => Boolean(row) && isLoaded(id));
  const [problem, setProblem] = useState(null);
  const me = parley.session.userId;
  useTitle(row ? nameOf(row.other_user) : t("Chats"));

  const load = useCallback(async () => {
    setProblem(null);
    try {
      await store.conversations.loadOne(id);
      await open(id);
      setOpen(true);
    } catch (error) {
      if (error.code !== "aborted") setProblem(error);
    }
  }, [id]);
  // Also when the conversation is here no longer, and when the store has tried again by itself.
  useEffect(() => {
    if (!row || !isOpen) load();
  }, [load, !row, isThere]);
  // The server does not tell a blocked user when the block ends.
  useEffect(() => {
    if (row?.is_blocked) store.conversations.refreshOne(id).catch(() => {});
  }, [id]);
  useEffect(
    () => (problem ? parley.on("status", ({ status }) => status === "online" && load()) : undefined),
    [load, problem],
  );

  if (problem?.status === 404) return html`<${Missing} />`;
  if (!row || !isOpen || !isThere) {
    return html`<section class="conversation empty">${
      problem
        ? html`<p>${errorText(problem)}</p><p><button type="button" class="button" onClick=${load}>${t("Try again")}</button></p>`
        : html`<${Loading} />`
    }</section>`;
  }
  return html`<${Open} key=${id} id=${id} row=${row} state=${state} me=${me} hit=${hit} hitText=${hitText} />`;
}

function Open({ id, row, state, me, hit, hitText }) {
  const first = useMemo(() => firstUnread(id), [id]);
  const [task, setTask] = useState(/** @type {{ reply?: any, editing?: any }} */ ({}));
  const [searching, setSearching] = useState(false);
  const [found, setFound] = useState(null);
  const [reporting, setReporting] = useState(null);
  // The viewer, as it is loaded, and the picture that it begins with.
  const [viewing, setViewing] = useState(null);
  const [dropping, setDropping] = useState(false);
  // What the two let the page do; nothing before they are drawn.
  const log = useRef(/** @type {Record<string, Function>} */ ({}));
  const composer = useRef(/** @type {Record<string, Function>} */ ({}));
  const page = useRef(null);
  const searchButton = useRef(null);
  const otherName = nameOf(row.other_user);
  const names = useCallback((userId) => (userId === me ? t("You") : otherName), [me, otherName]);

  const blocked = row.is_blocked;
  const blockedByMe = useBlockedByMe(row);
  const actions = useMemo(
    () => ({
      me,
      blocked,
      jump: (messageId) =>
        log.current
          .jump(messageId)
          .then((there) => there || notice(t("This message has been deleted")))
          .catch(failed),
      call: (media) => invite({ conversation_id: id, media }),
      reply: (message) => setTask({ reply: message }),
      edit: (message) => setTask({ editing: message }),
      react: (message, emoji) => react(message, emoji).catch(failed),
      report: (message) => setReporting(message),
      view: (message) =>
        load("chat/viewer.js").then((module) => setViewing({ Viewer: module.default, first: message.id }), failed),
      copy: (message) =>
        copyText(message.body).then(
          () => notice(t("Copied")),
          () => notice(t("The text could not be copied")),
        ),
      remove: async (message) => {
        const text = t("It will be removed for both of you. This cannot be undone.");
        if (!(await confirm({ title: t("Delete this message?"), text, action: t("Delete"), danger: true }))) return;
        try {
          await store.messages(id).delete(message.id);
          notice(t("Message deleted"));
          composer.current.focus?.();
        } catch (error) {
          failed(error);
        }
      },
    }),
    [me, blocked],
  );

  const end = useCallback((edited) => setTask((now) => (edited && now.editing !== edited ? now : {})), []);
  const editLast = async () => {
    if (state.hasNewer) await log.current.toEnd();
    const { messages, hasNewer } = threadOf(store.messages(id).getSnapshot());
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

  const newestOfTheirs = state.messages.findLast((message) => message.sender_id !== me && message.kind !== "call");
  const show = (messageId, text) => {
    setFound(messageId && { id: messageId, text });
    if (messageId) log.current.jump(messageId, { flashing: false }).catch(failed);
  };
  // Once it is led there, the address is that of the conversation again: the same link leads there a second time.
  useEffect(() => {
    if (!hit) return;
    navigate(`/app/chats/${id}`, { replace: true });
    setSearching(false);
    setFound({ id: hit, text: hitText });
  }, [hit]);
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
    <${Header} id=${id} row=${row} name=${otherName} blockedByMe=${blockedByMe} newest=${newestOfTheirs} onReport=${setReporting} searching=${searching} searchButton=${searchButton} onSearch=${() => (searching ? closeSearch() : setSearching(true))} />
    ${searching && html`<${SearchBar} id=${id} onShow=${show} onClose=${closeSearch} />`}
    <${Log} id=${id} state=${state} hit=${hit} unread=${first} row=${row} me=${me} names=${names} actions=${actions} found=${found} control=${log} />
    ${
      blocked
        ? html`<${Blocked} user=${row.other_user} mine=${blockedByMe} />`
        : html`<${Composer} id=${id} reply=${task.reply} editing=${task.editing} names=${names} onEnd=${end} onEditLast=${editLast} onSave=${(message, body) => store.messages(id).edit(message.id, body)}
          onSent=${({ isEditing = false } = {}) => {
            if (!isEditing) end();
            log.current.toEnd();
          }} control=${composer} />`
    }
    ${dropping && html`<div class="drop-here" aria-hidden="true"><p>${t("Drop images to send them")}</p></div>`}
    ${
      viewing &&
      html`<${viewing.Viewer} pictures=${state.messages.filter((message) => message.kind === "image" && message.media)} first=${viewing.first} names=${names} onClose=${() => setViewing(null)} />`
    }
    ${reporting && html`<${Report} message=${reporting} onClose=${() => setReporting(null)} />`}
  </section>`;
}
