import { parley } from "../../client.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { failed } from "../../ui/notices.js";
import { Select, Switch } from "../forms.js";

const SWITCHES = [
  ["read_receipts", () => t("Read receipts"), () => t("If off, neither you nor the others see which messages have been read.")],
  ["show_last_seen", () => t("Show when I was last seen")],
  ["relay_calls", () => t("Calls through a relay"), () => t("The other person does not see your IP address; call quality may be slightly lower.")],
];

export function Privacy() {
  const [privacy, setPrivacy] = useState(null);
  useEffect(() => {
    parley.profile.privacyGet().then((reply) => setPrivacy(reply.privacy), failed);
  }, []);
  async function change(name, value) {
    const before = privacy[name];
    setPrivacy((old) => ({ ...old, [name]: value }));
    try {
      // The others may have been changed on another device.
      setPrivacy((await parley.profile.privacySet({ [name]: value })).privacy);
    } catch (error) {
      setPrivacy((old) => ({ ...old, [name]: before }));
      failed(error);
    }
  }
  const choices = [
    ["everyone", t("Everyone")],
    ["contacts", t("People I have written to")],
    ["nobody", t("Nobody")],
  ];
  return privacy && html`<${Select} label=${t("Who can message me")} options=${choices} value=${privacy.who_can_message}
      hint=${t("The same people can call you.")} onChange=${(event) => change("who_can_message", event.currentTarget.value)} />
    <div class="switches">${SWITCHES.map(([name, label, hint]) => html`<${Switch} key=${name} name=${name} label=${label()}
      hint=${hint?.()} checked=${privacy[name]} onChange=${(event) => change(name, event.currentTarget.checked)} />`)}</div>`;
}
