import type { Client } from "../parley.js";
import type { Store as StoreType } from "../parley.js";

export const Store: new (client: Client) => StoreType;
export type Store = StoreType;
