export { OWN_WINDOW, forThisUser, parley } from './first.js';
