export { app } from '../first.js';
