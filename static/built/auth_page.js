import { T, F, useTitle, ICON, config, t, html, isKeeping } from './first.js';

// The frame of the pages before sign-in: one card in the middle.

function AuthPage({ title, lead, children, after }) {
  useTitle(title);
  return html`<main class="auth">
    <a class="auth-brand" href="/app/" aria-label=${t("{product}, start page", { product: config.product })}>
      <img src=${ICON} alt="" width="36" height="36" /><span aria-hidden="true">${config.product}</span></a>
    <section class="card auth-card">
      <h1 tabindex="-1">${title}</h1>
      ${lead && html`<p class="lead">${lead}</p>`}
      ${children}
      <${NothingKept} />
    </section>
    ${after && html`<p class="auth-after">${after}</p>`}
  </main>`;
}

// Where site data is blocked.
function NothingKept() {
  return (
    !isKeeping &&
    html`<p class="hint">${t("This browser keeps no data of this page: you are signed out when you reload or close it. To stay signed in, allow cookies and site data for this page.")}</p>`
  );
}

// The first field that is still empty has the focus when the page is there.
function useFirstField() {
  const place = T(null);
  F(() => {
    const fields = [...place.current.querySelectorAll("input:not([hidden]), select")];
    (fields.find((field) => !field.value) ?? fields[0])?.focus();
  }, []);
  return place;
}

export { AuthPage, NothingKept, useFirstField };
