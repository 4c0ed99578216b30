export { LIMITS, prepareImage } from "../parley.js";
