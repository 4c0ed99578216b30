// All settings of a user, on one page.
import { forThisUser, parley } from "../../client.js";
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { errorText } from "../../lib/notices.js";
import { useTitle } from "../../lib/title.js";
import { navigate } from "../../router.js";
import { signOut } from "../../session.js";
import { app } from "../../state/app.js";
import { Alert } from "../../ui/forms.js";
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

export default function Settings({ params }) {
  useTitle(t("Settings"));
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
  const headingOf = (section) => page.current?.querySelector(`#section-${CSS.escape(section)}`);
  const scrollTo = (section) => headingOf(section)?.closest(".card").scrollIntoView({ block: "start" });
  const show = (section) => {
    scrollTo(section);
    headingOf(section)?.focus({ preventScroll: true });
  };
  const go = (section) => {
    navigate(`/app/settings/${section}`);
    // Again, when the address does not change.
    if (params.section === section) show(section);
  };
  useEffect(() => {
    if (!profile || !params.section) return undefined;
    show(params.section);
    // The sections above are filled in a moment later: it keeps its place until the user does something.
    const watcher = new ResizeObserver(() => scrollTo(params.section));
    watcher.observe(page.current.querySelector(".settings-sections"));
    const stop = () => watcher.disconnect();
    for (const type of ["wheel", "pointerdown", "keydown"]) addEventListener(type, stop, { once: true });
    return stop;
  }, [params.section, Boolean(profile)]);
  return html`<main class="page settings" ref=${page}>
    <header class="settings-head"><h1 tabindex="-1">${t("Settings")}</h1>
      <button class="button" onClick=${() => signOut()}>${t("Sign out")}</button></header>
    <div class="settings-body">
      <nav class="settings-nav" aria-label=${t("Sections")}>
        ${SECTIONS.map(
          ([key, title]) => html`<button key=${key} aria-current=${params.section === key ? "true" : undefined}
          onClick=${() => go(key)}>${title()}</button>`,
        )}
        <a href="/app/help">${t("Help")}</a>
      </nav>
      <div class="settings-sections">
        <${Alert} text=${problem} />
        ${
          profile &&
          SECTIONS.map(
            ([key, title, Section]) => html`<section key=${key} class="card" aria-labelledby=${`section-${key}`}>
          <h2 id=${`section-${key}`} tabindex="-1">${title()}</h2>
          <${Section} profile=${profile} update=${update} /></section>`,
          )
        }
      </div>
    </div>
  </main>`;
}
