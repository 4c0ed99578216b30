// The HTML of the page, as a server sends it.
import { renderToString } from "react-dom/server";
import { Parley } from "parley";
import { page } from "./page.mjs";

const client = new Parley({ baseUrl: process.argv[2], WebSocket: class {} });
const html = renderToString(page(client));
client.close();
console.log(`<!doctype html><div id="root">${html}</div><script type="module" src="/take_over.mjs"></script>`);
