import { parley } from "../../client.js";
import { config } from "../../config.js";
import { html, useState } from "../../lib/html.js";
import { LANGUAGES, supported, t, useLanguage } from "../../lib/i18n.js";
import { failed } from "../../lib/notices.js";
import { setTheme, theme } from "../../lib/theme.js";
import { Select } from "../../ui/forms.js";
import { useTurns } from "./saved.js";

export function Language({ profile, update }) {
  const inTurn = useTurns();
  async function choose({ currentTarget: { value: language } }) {
    try {
      const reply = await inTurn(() => parley.profile.update({ language }));
      if (!reply) return;
      await useLanguage(reply.profile.language, { addresses: config.catalogs });
      parley.language = reply.profile.language;
      update(reply.profile);
    } catch (error) {
      failed(error);
    }
  }
  return html`<${Select} label=${t("Language (also used for e-mails and notifications)")} options=${LANGUAGES}
    value=${supported(profile.language) || "en"} onChange=${choose} />`;
}

export function Appearance() {
  const [name, setName] = useState(theme());
  const options = [
    ["system", t("Use system setting")],
    ["light", t("Light")],
    ["dark", t("Dark")],
  ];
  const choose = (event) => {
    setTheme(event.currentTarget.value);
    setName(event.currentTarget.value);
  };
  return html`<${Select} label=${t("Theme")} options=${options} value=${name} onChange=${choose} />`;
}
