import { hydrateRoot } from "react-dom/client";
import { Parley } from "parley";
import { page } from "./page.mjs";

const client = new Parley({ baseUrl: import.meta.env.VITE_PARLEY });
if (client.session.isSignedIn) client.connect();
hydrateRoot(document.getElementById("root"), page(client));
