import { parley } from "../../client.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { ago, day, t, tn } from "../../lib/i18n.js";
import { failed, notice } from "../../lib/notices.js";
import { deviceName } from "../../ui/device_name.js";
import { focusAfter, onReturn } from "../../ui/focus.js";

export function Devices() {
  const [sessions, setSessions] = useState(null);
  const [devices, setDevices] = useState(null);
  const load = (onError = failed) =>
    Promise.all([
      parley.auth.sessionsList().then((reply) => setSessions(currentFirst(reply.sessions))),
      parley.auth.devicesList().then((reply) => setDevices(reply.devices)),
    ]).catch(onError);
  useEffect(() => {
    load();
    // A change of the password has ended the others.
    const offs = [parley.on("session.renewed", () => load()), onReturn(() => load(() => {}))];
    return () => offs.forEach((off) => off());
  }, []);
  const run =
    (work) =>
    ({ currentTarget }) => {
      const moveFocus = focusAfter(currentTarget);
      work().then(moveFocus, (error) => {
        failed(error);
        load();
      });
    };
  const end = (session) =>
    run(async () => {
      await parley.auth.sessionsEnd({ session_id: session.id });
      setSessions((old) => old.filter((other) => other.id !== session.id));
    });
  const endOthers = run(async () => {
    await parley.auth.sessionsEndOthers();
    setSessions((old) => old.filter((session) => session.is_current));
    notice(t("You are signed in here only."));
  });
  const forget = (device) =>
    run(async () => {
      await parley.auth.devicesRemove({ device_id: device.id });
      // The sessions that it opened have ended with it.
      await load();
    });
  if (!sessions || !devices) return null;
  const others = sessions.filter((session) => !session.is_current).length;
  return html`<h3>${t("Signed in")}</h3>
    <ul class="rows">${sessions.map(
      (session) => html`<li key=${session.id}>
      <span class="row-text"><strong>${deviceName(session)}</strong>
        <span class="hint">${session.is_current ? t("This browser") : t("Last used {when}", { when: ago(session.last_used_at) })}${
          session.ip && html` · <bdi>${session.ip}</bdi>`
        }</span></span>
      ${
        !session.is_current &&
        html`<button class="button" aria-label=${t("End the session {name}", { name: deviceName(session) })}
        onClick=${end(session)}>${t("End")}</button>`
      }</li>`,
    )}</ul>
    ${others > 0 && html`<button class="button" onClick=${endOthers}>${tn("End {n} other session", "End {n} other sessions", others)}</button>`}
    <h3>${t("Trusted devices")}</h3>
    ${devices.length === 0 && html`<p class="hint">${t("None. Trusted devices do not ask for the second password.")}</p>`}
    <ul class="rows">${devices.map(
      (device) => html`<li key=${device.id}>
      <span class="row-text"><strong>${deviceName(device)}</strong>
        <span class="hint">${t("Trusted until {date}", { date: day(device.expires_at) })}</span></span>
      <button class="button" aria-label=${t("Remove {name}", { name: deviceName(device) })}
        onClick=${forget(device)}>${t("Remove")}</button></li>`,
    )}</ul>`;
}

const currentFirst = (sessions) => [...sessions].sort((one, other) => other.is_current - one.is_current);
