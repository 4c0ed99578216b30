export { loadProfile, signInWindow, signOut, start } from './first.js';
