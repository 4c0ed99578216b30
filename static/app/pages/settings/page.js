// The settings of a user: one section, or all of them.
import { forThisUser, parley } from "../../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { errorText } from "../../lib/notices.js";
import { useTitle } from "../../lib/title.js";
import { navigate } from "../../router.js";
import { signOut } from "../../session.js";
import { app } from "../../state/app.js";
import { Alert } from "../../ui/alert.js";
import { Icon } from "../../ui/icon.js";
import { Blocked } from "./blocked.js";
import { Data } from "./data.js";
import { Devices } from "./devices.js";
import { Appearance, Language } from "./language.js";
import { Preferences } from "./notifications.js";
import { Privacy } from "./privacy.js";
import { Profile } from "./profile.js";
import { Security } from "./security.js";

/** @type {[string, () => string, import("preact").ComponentType<any>][]} */
const SECTIONS = [
  ["profile", () => t("Profile"), Profile],
  ["language", () => t("Language"), Language],
  ["appearance", () => t("Appearance"), Appearance],
  ["notifications", () => t("Notifications"), Preferences],
  ["security", () => t("Security"), Security],
  ["devices", () => t("Devices and sessions"), Devices],
  ["privacy", () => t("Privacy"), Privacy],
  ["blocked", () => t("Blocked people"), Blocked],
  ["data", () => t("Your data"), Data],
];

const ALL = "/app/settings";

// The address names the section; without one, all of them stand below one another.
export default function Settings({ params }) {
  const [profile, setProfile] = useState(null);
  const [problem, setProblem] = useState("");
  const page = useRef(null);
  const update = (changed) => {
    setProfile(changed);
    // Null when the session has ended meanwhile.
    app.set(({ user }) => user && { user: { ...user, ...changed } });
  };
  useEffect(() => {
    forThisUser(parley.profile.get()).then(
      (reply) => update(reply.profile),
      (error) => setProblem(errorText(error)),
    );
    return parley.on("profile.updated", ({ user }) => setProfile((old) => ({ ...old, ...user })));
  }, []);
  const open = SECTIONS.find(([key]) => key === params.section);
  useTitle(open ? `${open[1]()} · ${t("Settings")}` : t("Settings"));
  const show = () => {
    page.current.scrollIntoView({ block: "start" });
    page.current.querySelector(open ? "h2" : "h1").focus({ preventScroll: true });
  };
  // At once, so that the focus is never taken from what is used by then. Of a new page the shell takes care.
  const isNew = useRef(true);
  useLayoutEffect(() => {
    if (open || !isNew.current) show();
    isNew.current = false;
  }, [open?.[0]]);
  const go = (key) => {
    // Again, when the address stays the same.
    if (key === open?.[0]) show();
    else navigate(key ? `${ALL}/${key}` : ALL);
  };
  const entry = (key, text) =>
    html`<button key=${key} aria-current=${key === open?.[0] ? "page" : undefined} onClick=${() => go(key)}>${text}<${Icon} name="next" size=${20} /></button>`;
  return html`<main class=${`page settings ${open ? "one-section" : ""}`} ref=${page}>
    <header class="settings-head"><h1 tabindex="-1">${t("Settings")}</h1>
      <button class="button" onClick=${() => signOut()}>${t("Sign out")}</button></header>
    ${open && html`<button class="text-button settings-back" onClick=${() => go()}><${Icon} name="back" size=${20} />${t("All settings")}</button>`}
    <div class="settings-body">
      <nav class="settings-nav" aria-label=${t("Sections")}>
        ${entry(undefined, t("All settings"))}
        ${SECTIONS.map(([key, title]) => entry(key, title()))}
        <a href="/app/help">${t("Help")}<${Icon} name="next" size=${20} /></a>
      </nav>
      <div class="settings-sections">
        <${Alert} text=${problem} />
        ${(open ? [open] : SECTIONS).map(
          ([key, title, Section]) => html`<section key=${key} class="card" aria-labelledby=${`section-${key}`}>
          <h2 id=${`section-${key}`} tabindex="-1">${title()}</h2>
          ${profile && html`<${Section} profile=${profile} update=${update} />`}</section>`,
        )}
      </div>
    </div>
  </main>`;
}
