export { Client } from "../parley.js";
