// A component that is drawn anew only when one of the props in `static keys` changes, or the language of its texts.
import { Component } from "preact";
import { language } from "../i18n.js";

export class Pure extends Component {
  constructor(props) {
    super(props);
    this.language = language();
  }

  shouldComponentUpdate(next) {
    const before = this.language;
    this.language = language();
    return this.language !== before || this.constructor.keys.some((key) => next[key] !== this.props[key]);
  }
}
