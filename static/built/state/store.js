export { store } from '../pages/chats.js';
import '../first.js';
