export { Navigation$1 as Navigation, finish$1 as finish, prepare$1 as prepare } from './pages/chats.js';
import './first.js';
