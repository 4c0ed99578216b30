// What a call says about itself.
import { duration, t } from "../lib/i18n.js";
import { errorText } from "../lib/notices.js";

// Why the call ended, for this user. `mine`: this user called.
export function endText({ reason, mine, seconds, error }) {
  const texts = {
    completed: () => t("Call ended · {time}", { time: duration(seconds || 0) }),
    missed: () => (mine ? t("No answer") : t("Missed call")),
    canceled: () => (mine ? t("Call canceled") : t("Missed call")),
    declined: () => (mine ? t("Call declined") : t("You declined the call")),
    busy: () => (mine ? t("Busy: on another call") : t("Missed call while you were on another call")),
    failed: () => t("The call could not be connected"),
    lost: () => t("The connection was lost"),
    answered_elsewhere: () => t("Answered on another device"),
  };
  return texts[reason]?.() || (error ? problemText(error) : t("Call ended"));
}

// What cannot be done in a call, or begun.
export function problemText(error) {
  const camera = () => t("The camera cannot be used. The call continues without it.");
  const texts = {
    call_conflict: () => t("You are already in a call."),
    microphone_denied: () => t("Microphone access was denied. Allow it in the browser and call again."),
    calls_unsupported: () => t("This browser cannot hold calls on this page. Calls need WebRTC and an https address."),
    devices_missing: () => t("There is no microphone"),
    microphone_lost: () =>
      t("There is no microphone any more: the other person cannot hear you. Connect one to go on."),
    devices_failed: () => t("The microphone could not be used"),
    screen_missing: () => t("There is no screen that can be shared."),
    screen_failed: () => t("The screen could not be shared."),
    camera_denied: camera,
    camera_missing: camera,
    camera_failed: camera,
  };
  return texts[error.code]?.() || errorText(error);
}

export function mediaText(media) {
  return media === "video" ? t("Video call") : t("Voice call");
}

// The state of a call that has not ended.
export function stateText(call) {
  if (call.reconnecting) return t("Reconnecting…");
  if (call.state === "starting") return t("Calling…");
  if (call.state === "ringing") return call.peerRinging ? t("Ringing…") : t("Calling…");
  if (call.state === "connecting" || !call.mediaConnected) return t("Connecting the call…");
  return "";
}

export function qualityText(quality) {
  return { good: t("Connection: good"), fair: t("Connection: fair"), poor: t("Connection: poor") }[quality] || "";
}
