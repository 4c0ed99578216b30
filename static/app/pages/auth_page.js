// The frame of the pages before sign-in: one card in the middle.
import { ICON } from "../config.js";
import { html, useLayoutEffect, useRef } from "../html.js";
import { t } from "../i18n.js";
import { useTitle } from "../title.js";

export function AuthPage({ title, lead, children, after }) {
  useTitle(title);
  return html`<main class="auth">
    <a class="auth-brand" href="/app/" aria-label=${t("Parley, start page")}>
      <img src=${ICON} alt="" width="36" height="36" /><span aria-hidden="true">Parley</span></a>
    <section class="card auth-card">
      <h1 tabindex="-1">${title}</h1>
      ${lead && html`<p class="lead">${lead}</p>`}
      ${children}
    </section>
    ${after && html`<p class="auth-after">${after}</p>`}
  </main>`;
}

// The first field that is still empty has the focus when the page is there.
export function useFirstField() {
  const place = useRef();
  useLayoutEffect(() => {
    const fields = [...place.current.querySelectorAll("input, select")];
    (fields.find((field) => !field.value) ?? fields[0])?.focus();
  }, []);
  return place;
}
