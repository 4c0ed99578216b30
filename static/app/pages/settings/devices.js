import { parley } from "../../client.js";
import { html, useEffect, useState } from "../../html.js";
import { ago, day, t, tn } from "../../i18n.js";
import { focusAfter } from "../../ui/focus.js";
import { failed, notice } from "../../ui/notices.js";

export function Devices() {
  const [sessions, setSessions] = useState(null);
  const [devices, setDevices] = useState(null);
  useEffect(() => {
    parley.auth.sessionsList().then((reply) => setSessions(reply.sessions), failed);
    parley.auth.devicesList().then((reply) => setDevices(reply.devices), failed);
  }, []);
  const run = (work) => ({ currentTarget }) => {
    const moveFocus = focusAfter(currentTarget);
    work().then(moveFocus, failed);
  };
  const end = (session) => run(async () => {
    await parley.auth.sessionsEnd({ session_id: session.id });
    setSessions((old) => old.filter((other) => other.id !== session.id));
  });
  const endOthers = run(async () => {
    await parley.auth.sessionsEndOthers();
    setSessions((old) => old.filter((session) => session.is_current));
    notice(t("You are signed in here only."));
  });
  const forget = (device) => run(async () => {
    await parley.auth.devicesRemove({ device_id: device.id });
    setDevices((old) => old.filter((other) => other.id !== device.id));
  });
  if (!sessions || !devices) return null;
  const others = sessions.filter((session) => !session.is_current).length;
  return html`<h3>${t("Signed in")}</h3>
    <ul class="rows">${sessions.map((session) => html`<li key=${session.id}>
      <span class="row-text"><strong>${nameOf(session)}</strong>
        <span class="hint">${session.is_current ? t("This browser") : t("Last used {when}", { when: ago(session.last_used_at) })}${
          session.ip && html` · <bdi>${session.ip}</bdi>`}</span></span>
      ${!session.is_current && html`<button class="button" aria-label=${t("End the session {name}", { name: nameOf(session) })}
        onClick=${end(session)}>${t("End")}</button>`}</li>`)}</ul>
    ${others > 0 && html`<button class="button" onClick=${endOthers}>${tn("End {n} other session", "End {n} other sessions", others)}</button>`}
    <h3>${t("Trusted devices")}</h3>
    ${devices.length === 0 && html`<p class="hint">${t("None. Trusted devices do not ask for the second password.")}</p>`}
    <ul class="rows">${devices.map((device) => html`<li key=${device.id}>
      <span class="row-text"><strong>${device.device_name || t("Unknown device")}</strong>
        <span class="hint">${t("Trusted until {date}", { date: day(device.expires_at) })}</span></span>
      <button class="button" aria-label=${t("Remove {name}", { name: device.device_name || t("Unknown device") })}
        onClick=${forget(device)}>${t("Remove")}</button></li>`)}</ul>`;
}

// "Chrome on Linux" from what a browser says of itself; apps bring a name of their own.
const BROWSERS = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS", "macOS"], ["Linux", "Linux"]];

function nameOf({ device_name: name, user_agent: agent = "" }) {
  const find = (table) => table.find(([part]) => agent.includes(part))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser && system && (!name || agent.startsWith(name))) return t("{browser} on {system}", { browser, system });
  return name || agent || t("Unknown device");
}
