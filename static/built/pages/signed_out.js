import { t, html, day } from '../first.js';
import { AuthPage } from '../auth_page.js';

// Why this browser is signed in no longer.

const REASONS = {
  account_blocked: () => t("This account is blocked. If you think that this is a mistake, contact support."),
  token_expired: () => t("You have been away for a while. Sign in again to continue."),
  token_revoked: () => t("This session was ended on another device, by a password change, or by support."),
  signed_out: () => t("You signed out. Your conversations have been removed from this browser."),
};

function SignedOut({ query }) {
  const text = REASONS[query.reason]?.() ?? t("Sign in again to continue.");
  return html`<${AuthPage} title=${t("Signed out")}>
    ${
      Number.isNaN(Date.parse(query.erased))
        ? html`<p>${text}</p>`
        : html`<p role="status">${t("Your account will be erased on {date}.", { date: day(query.erased) })}</p>
        <p>${t("After 14 days everything is erased. Sign in within 14 days to keep your account.")}</p>`
    }
    <p class="landing-actions"><a class="button primary" href=${`/app/sign-in${query.next ? `?next=${encodeURIComponent(query.next)}` : ""}`}>${t("Sign in")}</a>
      <a class="button" href="/app/">${t("Start page")}</a></p>
  <//>`;
}

export { SignedOut as default };
