import { t } from './first.js';

// What a session or a trusted device is called.

// What the server calls a browser is English: "Firefox on Linux". Apps bring a name of their own.
const BROWSER_ON_SYSTEM = /^(\w+) on (Android|ChromeOS|iPad|iPhone|Linux|macOS|Windows)$/;

function deviceName({ device_name: name }) {
  const [, browser, system] = BROWSER_ON_SYSTEM.exec(name) || [];
  return browser ? t("{browser} on {system}", { browser, system }) : name || t("Unknown device");
}

export { deviceName };
