// Puts the modules of the web client into few files, so that a page needs few requests:
//   node bundle.mjs ROLLUP STATIC [--check]
// ROLLUP is the folder of the package, STATIC that of the static files. Writes STATIC/built/: the files, and
// `manifest.json`, which says of each file which module it stands for, what it imports and from which sources it was
// made, with the first eight digits of their SHA-256. With --check it writes nothing and fails when a file is not current.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [rollupFolder, staticFolder] = process.argv.slice(2, 4).map((folder) => path.resolve(folder));
const isCheck = process.argv.includes("--check");
const { rollup } = await import(pathToFileURL(path.join(rollupFolder, "dist", "es", "rollup.js")).href);

const BUILT = path.join(staticFolder, "built");
const PACKAGES = { preact: "vendor/preact.mjs", "preact/hooks": "vendor/preact-hooks.mjs", htm: "vendor/htm.mjs" };
const MAIN = "app/main.js";
// Each of these files holds these modules and what they need, as far as it is not in a file before it. The first one
// is that of the first page. `main.js` waits at its top level, so the files that it loads later must not import it.
const FILES = { first: [MAIN, "app/ui/icon.js"], chats: ["app/signed_in.js", "app/pages/chats.js"] };
// Whoever imports one of these by its own address, a test or the console of a browser, gets the instance that runs.
const REACHABLE = [
  "client.js",
  "session.js",
  "lib/html.js",
  "lib/i18n.js",
  "state/app.js",
  "state/calls.js",
  "state/store.js",
];
// `load("pages/calls.js")`: a module that is loaded when it is first wanted.
const LATER = /\b(?:load|later)\("([\w/]+\.js)"\)/g;

const inStatic = (name) => path.join(staticFolder, name);
const nameOf = (id) => path.relative(staticFolder, id).split(path.sep).join("/");

const digest = (content) => createHash("sha256").update(content).digest("hex").slice(0, 8);

async function laterModules() {
  const files = await readdir(inStatic("app"), { recursive: true });
  const sources = await Promise.all(
    files.filter((file) => file.endsWith(".js")).map((file) => readFile(inStatic(`app/${file}`), "utf8")),
  );
  return [...new Set(sources.flatMap((source) => [...source.matchAll(LATER)].map(([, name]) => name)))].sort();
}

function fileOf(id, { getModuleInfo }) {
  if (id === inStatic(MAIN)) return undefined;
  const needs = (start) => {
    const found = new Set([start]);
    for (const module of found) for (const next of getModuleInfo(module).importedIds) found.add(next);
    return found.has(id);
  };
  return Object.keys(FILES).find((file) => FILES[file].some((name) => needs(inStatic(name))));
}

const input = Object.fromEntries([
  ["main", inStatic(MAIN)],
  ...(await laterModules()).map((name) => [name.slice(0, -3), inStatic(`app/${name}`)]),
]);
const plugin = {
  name: "client",
  resolveId: (name) => (PACKAGES[name] ? inStatic(PACKAGES[name]) : null),
  buildStart() {
    for (const name of REACHABLE)
      this.emitFile({
        type: "chunk",
        id: inStatic(`app/${name}`),
        name: name.slice(0, -3),
        preserveSignature: "strict",
      });
  },
};
const bundle = await rollup({
  input,
  plugins: [plugin],
  preserveEntrySignatures: "allow-extension",
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
const { output } = await bundle.generate({
  format: "es",
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js",
  manualChunks: fileOf,
  // The names of the sources: who looks into a page finds them.
  minifyInternalExports: false,
});
const files = new Map(output.map(({ fileName, code }) => [fileName, code]));
const manifest = {};
for (const { fileName, facadeModuleId, imports, modules } of output) {
  const sources = {};
  for (const id of Object.keys(modules).sort()) sources[nameOf(id)] = digest(await readFile(id));
  // The SDK at its own address is that of other programs on the page.
  const module = facadeModuleId?.startsWith(inStatic("app/")) ? nameOf(facadeModuleId) : null;
  manifest[fileName] = { module, imports, sources };
}
files.set("manifest.json", `${JSON.stringify(manifest, null, 1)}\n`);

const present = await readdir(BUILT, { recursive: true, withFileTypes: true }).catch(() => []);
const names = present
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(BUILT, path.join(entry.parentPath ?? entry.path, entry.name)));
if (isCheck) {
  const isCurrent = async ([name, text]) => (await readFile(path.join(BUILT, name), "utf8").catch(() => null)) === text;
  const current = await Promise.all([...files].map(isCurrent));
  if (current.includes(false) || names.length !== files.size) {
    console.error("static/built/ is not made of the sources as they are. Update it with: python3 dev.py fix");
    process.exitCode = 1;
  }
} else {
  await rm(BUILT, { recursive: true, force: true });
  for (const [name, text] of files) {
    await mkdir(path.dirname(path.join(BUILT, name)), { recursive: true });
    await writeFile(path.join(BUILT, name), text);
  }
}
