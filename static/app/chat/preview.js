// A message in one line: in the list, in a quote, in a notification.
import { t } from "../lib/i18n.js";
import { plainText } from "./format.js";

export function previewText({ kind, body, call, media_url: image }, own = false) {
  if (kind === "call") return callText(call, body, own);
  if (body) return plainText(body);
  return kind === "image" || image ? t("Image") : "";
}

export const callIcon = (call) => (call?.media === "video" ? "camera" : "phone");

// `own`: this user called, and has missed nothing.
export function callText(call, body = "", own = false) {
  const isVideo = call?.media === "video";
  if (!call) return body;
  if (own && call.outcome === "missed") return t("No answer");
  if (own && call.outcome === "canceled") return t("Call canceled");
  if (["missed", "canceled"].includes(call.outcome)) return isVideo ? t("Missed video call") : t("Missed voice call");
  if (call.outcome === "declined") return own ? t("Call declined") : t("You declined the call");
  return isVideo ? t("Video call") : t("Voice call");
}
