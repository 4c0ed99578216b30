// The state of the signed-in user, which the SDK keeps true. What is shown is taken from it.
import { Store } from "../../sdk/parley/store.js";
import { parley } from "../client.js";

export const store = new Store(parley);
