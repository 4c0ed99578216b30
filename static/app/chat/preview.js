// A message in one line: in the list, in a quote, in a notification.
import { t } from "../i18n.js";

export function previewText({ kind, body, call, media_url: image }) {
  if (kind === "call") return callText(call, body);
  if (body) return body;
  return kind === "image" || image ? t("Image") : "";
}

export const callIcon = (call) => (call?.media === "video" ? "camera" : "phone");

export function callText(call, body = "") {
  const isVideo = call?.media === "video";
  if (!call) return body;
  if (["missed", "canceled"].includes(call.outcome)) return isVideo ? t("Missed video call") : t("Missed voice call");
  if (call.outcome === "declined") return isVideo ? t("Declined video call") : t("Declined voice call");
  return isVideo ? t("Video call") : t("Voice call");
}
