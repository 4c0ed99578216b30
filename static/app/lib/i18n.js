// The language of the page: texts, plural forms, dates and numbers.
// English is what the sources say; the other languages come from /app/catalog/<language>.json.

import { stored } from "./stored.js";

export const LANGUAGES = [
  ["en", "English"],
  ["ru", "Русский"],
  ["es", "Español"],
  ["de", "Deutsch"],
  ["fr", "Français"],
  ["pt", "Português"],
  ["tr", "Türkçe"],
  ["uk", "Українська"],
  ["ar", "العربية"],
  ["zh-hans", "简体中文"],
];
const CODES = LANGUAGES.map(([code]) => code);
const STORED = "parley.language";
const ENGLISH = { language: "en", plural_locale: "en", plural_categories: ["one", "other"], texts: {} };

let catalog = ENGLISH;
let wanted = "en";
let rules = new Intl.PluralRules("en");
let formats = new Map();
const listeners = new Set();

/** The text in the reader's language; {name} stands for values.name. */
export function t(text, values) {
  return filled(catalog.texts[text] || text, values);
}

/** The form of a text that fits the number; {n} is the number as the language writes it. */
export function tn(one, many, n, values) {
  return filled(forms(one, many)[formIndex(n)], { n: number(n), ...values });
}

function forms(one, many) {
  const translated = catalog.texts[one];
  return Array.isArray(translated) ? translated : formsOfEnglish(one, many);
}

function formsOfEnglish(one, many) {
  return catalog.plural_categories.map((category) => (category === "one" ? one : many));
}

/** Which of the catalog's forms the number takes; a category that it does not have takes the last one. */
export function formIndex(n) {
  const index = catalog.plural_categories.indexOf(rules.select(n));
  return index < 0 ? catalog.plural_categories.length - 1 : index;
}

function filled(text, values) {
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : text;
}

export function language() {
  return catalog.language;
}

export function direction() {
  return catalog.language === "ar" ? "rtl" : "ltr";
}

/** Ours for a tag such as "pt-BR" or "zh-CN"; null when it is none of ours. */
export function supported(tag) {
  const lower = String(tag || "").toLowerCase();
  if (CODES.includes(lower)) return lower;
  const base = lower.split(/[-_]/)[0];
  return base === "zh" ? "zh-hans" : CODES.includes(base) ? base : null;
}

/** What was chosen here, else what the browser asks for. */
export function preferredLanguage() {
  const tags = [stored.getItem(STORED), ...(navigator.languages || [navigator.language])];
  return tags.map(supported).find(Boolean) || "en";
}

/** Switch the language: fetch its texts, translate the page, notify subscribers. A failed fetch changes nothing. */
export async function useLanguage(tag, { remember = true, addresses = {} } = {}) {
  const code = supported(tag) || "en";
  wanted = code;
  if (remember) stored.setItem(STORED, code);
  if (code !== catalog.language) {
    const loaded = code === "en" ? ENGLISH : await fetched(addresses[code] || `/app/catalog/${code}.json`);
    // Another one may have been chosen meanwhile.
    if (loaded && wanted === code) setCatalog(loaded);
  }
  // The server writes the page for what the browser asks for.
  markPage();
  return catalog.language;
}

/** What a screen reader, hyphenation and the layout go by. */
function markPage() {
  if (typeof document === "undefined") return;
  document.documentElement.lang = catalog.language === "zh-hans" ? "zh-Hans" : catalog.language;
  document.documentElement.dir = direction();
}

async function fetched(address) {
  try {
    const response = await fetch(address);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

export function setCatalog(loaded) {
  catalog = loaded;
  rules = new Intl.PluralRules(loaded.plural_locale);
  formats = new Map();
  markPage();
  for (const listener of listeners) listener(loaded.language);
}

/** Called after each change of language; returns the function that ends it. */
export function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function format(kind, options) {
  const key = `${kind.name}:${JSON.stringify(options)}`;
  if (!formats.has(key))
    formats.set(key, new kind(kind === Intl.DateTimeFormat ? region() : catalog.language, options));
  return formats.get(key);
}

/** The language as the reader's country writes its times: "en-GB" for English in a British browser. */
function region() {
  const script = (tag) => new Intl.Locale(tag).maximize().script;
  const isSame = (tag) => {
    try {
      return supported(tag) === catalog.language && script(tag) === script(catalog.language);
    } catch {
      return false;
    }
  };
  return globalThis.navigator?.languages?.find(isSame) ?? catalog.language;
}

export function number(value) {
  return format(Intl.NumberFormat, {}).format(value);
}

/** 14:05, 2:05 PM */
export function time(value) {
  return format(Intl.DateTimeFormat, { timeStyle: "short" }).format(new Date(value));
}

/** 22 Nov */
export function shortDay(value) {
  return format(Intl.DateTimeFormat, { day: "numeric", month: "short" }).format(new Date(value));
}

/** 22 November 2026 */
export function day(value) {
  return format(Intl.DateTimeFormat, { day: "numeric", month: "long", year: "numeric" }).format(new Date(value));
}

/** 22 Nov 2026, 14:05 */
export function dateTime(value) {
  return format(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "short" }).format(new Date(value));
}

/** "today", "yesterday", else the date: for dividers between days. */
export function dayName(value, now = new Date()) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(new Date(value)) - midnight(now)) / 86_400_000);
  if (days < -1 || days > 0) return day(value);
  return format(Intl.RelativeTimeFormat, { numeric: "auto" }).format(days, "day");
}

/** "5 minutes ago" */
export function ago(value, now = Date.now()) {
  const seconds = Math.round((new Date(value).getTime() - now) / 1000);
  /** @type {[string, number][]} */
  const units = [
    ["year", 31_536_000],
    ["month", 2_592_000],
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ];
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  const amount = unit === "second" ? 0 : Math.trunc(seconds / size);
  return format(Intl.RelativeTimeFormat, { numeric: "auto" }).format(amount, unit);
}

/** 1:05 or 1:02:03, from seconds. */
export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** "4.2 MB", rounded up: what is above a limit is never shown as the limit. */
export function bytes(size) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(units.length - 1, Math.floor(Math.log(Math.max(size, 1)) / Math.log(1024)));
  const options = { style: "unit", unit: units[step], unitDisplay: "short" };
  return format(Intl.NumberFormat, options).format(Math.ceil((size / 1024 ** step) * 10) / 10);
}

// As short as a list has room for: the time of today, else the day.
export function shortTime(value) {
  if (new Date(value).toDateString() === new Date().toDateString()) return time(value);
  const name = dayName(value);
  return name === day(value) ? shortDay(value) : name;
}
