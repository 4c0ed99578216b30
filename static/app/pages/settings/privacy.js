import { parley } from "../../client.js";
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Select } from "../../ui/forms.js";
import { Switches, useSaved } from "./saved.js";

const SWITCHES = [
  [
    "read_receipts",
    () => t("Read receipts"),
    () => t("If off, neither you nor the others see which messages have been read."),
  ],
  [
    "show_last_seen",
    () => t("Show when I was last seen"),
    () => t("If off, the ticks of a delivered message still show that one of your devices is connected."),
  ],
  [
    "relay_calls",
    () => t("Calls through a relay"),
    () => t("The other person does not see your IP address; call quality may be slightly lower."),
  ],
];

const load = () => parley.profile.privacyGet().then((reply) => reply.privacy);
const save = (change) => parley.profile.privacySet(change).then((reply) => reply.privacy);

export function Privacy() {
  const [privacy, change] = useSaved(load, save);
  const choices = [
    ["everyone", t("Everyone")],
    ["contacts", t("People I have written to")],
    ["nobody", t("Nobody")],
  ];
  return (
    privacy &&
    html`<${Select} label=${t("Who can message me")} options=${choices} value=${privacy.who_can_message}
      hint=${t("The same people can call you.")} onChange=${(event) => change("who_can_message", event.currentTarget.value)} />
    <${Switches} switches=${SWITCHES} values=${privacy} change=${change} />`
  );
}
