// Every button that calls.
import { parley } from "../client.js";
import { t } from "../i18n.js";
import { notice } from "../ui/notices.js";
import { problemText } from "./texts.js";

export async function invite(call) {
  if (parley.status === "offline") {
    notice(t("There is no connection. Call again once you are back online."), { kind: "danger" });
    return;
  }
  try {
    await parley.calls.invite(call);
  } catch (error) {
    notice(problemText(error), { kind: "danger" });
  }
}
