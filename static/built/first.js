var n$1=function(t,s,r,e){var u;s[0]=0;for(var h=1;h<s.length;h++){var p=s[h++],a=s[h]?(s[0]|=p?1:2,r[s[h++]]):s[++h];3===p?e[0]=a:4===p?e[1]=Object.assign(e[1]||{},a):5===p?(e[1]=e[1]||{})[s[++h]]=a:6===p?e[1][s[++h]]+=a+"":p?(u=t.apply(a,n$1(t,a,r,["",null])),e.push(u),a[0]?s[0]|=2:(s[h-2]=0,s[h]=u)):e.push(a);}return e},t$3=new Map;function htm(s){var r=t$3.get(this);return r||(r=new Map,t$3.set(this,r)),(r=n$1(this,r.get(s)||(r.set(s,r=function(n){for(var t,s,r=1,e="",u="",h=[0],p=function(n){1===r&&(n||(e=e.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?h.push(0,n,e):3===r&&(n||e)?(h.push(3,n,e),r=2):2===r&&"..."===e&&n?h.push(4,n,0):2===r&&e&&!n?h.push(5,0,true,e):r>=5&&((e||!n&&5===r)&&(h.push(r,0,e,s),r=6),n&&(h.push(r,n,0,s),r=6)),e="";},a=0;a<n.length;a++){a&&(1===r&&p(),p(a));for(var l=0;l<n[a].length;l++)t=n[a][l],1===r?"<"===t?(p(),h=[h],r=3):e+=t:4===r?"--"===e&&">"===t?(r=1,e=""):e=t+e[0]:u?t===u?u="":e+=t:'"'===t||"'"===t?u=t:">"===t?(p(),r=1):r&&("="===t?(r=5,s=e,e=""):"/"===t&&(r<5||">"===n[a][l+1])?(p(),3===r&&(h=h[0]),r=h,(h=h[0]).push(2,0,r),r=0):" "===t||"\t"===t||"\n"===t||"\r"===t?(p(),r=2):e+=t),3===r&&"!--"===e&&(r=4,h=h[0]);}return p(),h}(s)),r),arguments,[])).length>1?r:r[0]}

var n,t$2,u$1,i$1,f$1,o$1,e$1,l$1,c$1,a$1,s$1,h$1=Symbol.for("pv"),p$1={},y$1=[],v$1=/^m(i|n|o|s|text|space)$/,w$1=Array.isArray,d$1=y$1.slice,_$1=Object.assign;function g$1(n){n&&n.parentNode&&n.remove();}function k$1(n,t,r){var u,i,f,o={},e=arguments.length;for(f in t)"key"==f?u=t[f]:"ref"==f&&"function"!=typeof n?i=t[f]:o[f]=t[f];return e>2&&(o.children=e>3?d$1.call(arguments,2):r),m$1(n,o,u,i,null)}function m$1(r,u,i,f,o){var e={type:r,props:u,key:i,ref:f,__k:null,__:null,__b:0,__e:null,__c:null,constructor:h$1,__v:o||++t$2,__i:-1,__u:0};return !o&&n.vnode&&n.vnode(e),e}function $(n){return n.children}function x$1(n,t){this.props=n,this.context=t,this.__g=0;}function S(n,t){if(null==t)return n.__&&S(n.__,n.__i+1);for(var r;t<n.__k.length;t++)if((r=n.__k[t])&&r.__e)return r.__e;return "function"!=typeof n.type||n.props.__P?null:S(n)}function C$1(t){var r,u=t.__v,i=u.__e,f=[],o=[],e=t.__P;e&&((r=_$1({constructor:h$1},u)).__v=u.__v+1,n.vnode&&n.vnode(r),z$1(e,r,u,t.__n,e.namespaceURI,32&u.__u?[i]:null,f,i||S(u),32&u.__u,o),r.__v=u.__v,r.__.__k[r.__i]=r,E$1(f,r,o),u.__=u.__e=null,r.__e!=i&&j$1(r));}function j$1(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(function(t){return t&&(n.__e=t.__e)}),j$1(n)}function L(t){(8&t.__g||(t.__g|=8,u$1.push(t),f$1++))&&i$1==n.debounceRendering||((i$1=n.debounceRendering)||queueMicrotask)(H);}function H(){try{for(var n,t=1;u$1.length;)u$1.length>t&&u$1.sort(o$1),n=u$1.shift(),t=u$1.length,8&n.__g&&C$1(n);}finally{(f$1=u$1.length)&&(i$1||queueMicrotask)(H);}}function I(n,t,r,u,i,f,o,e,l,c,a){var s,h,v,w,d,_,g=u.__k||y$1,k=t.length;for(l=q$1(r,t,g,l,k),s=0;s<k;s++)null!=(v=r.__k[s])&&(h=~v.__i&&g[v.__i]||p$1,v.__i=s,_=z$1(n,v,h,i,f,o,e,l,c,a),w=v.__e,(h.ref!=v.ref||8&h.__u)&&(h.ref&&G$1(h.ref,null,v,h),v.ref&&a.push(v.ref,v.__c||w,v)),d=d||w,4&v.__u?(l=A$1(v,l,n,!h.__v),h.__e&&(h.__e=null)):"function"==typeof v.type&&void 0!==_?l=_:w&&(l=w.nextSibling),v.__u&=-21);return r.__e=d,l}function q$1(n,t,r,u,i){var f,o,e,l,c,a,s,p,y,v=r.length,d=v,_=0,g=0,k=n.__k=Array(i);for(f=0;f<i;f++)null!=(o=t[f])&&"boolean"!=typeof o&&"function"!=typeof o?("object"!=typeof o||o.constructor===String?o=k[f]=m$1(null,o):w$1(o)?o=k[f]=m$1($,{children:o}):o.constructor===h$1&&o.__b?o=k[f]=m$1(o.type,o.props,o.key,o.ref,o.__v):k[f]=o,l=f+_,o.__=n,o.__b=n.__b+1,e=null,~(c=o.__i=P$1(o,r,l,d))&&(d--,(e=r[c])&&(e.__u|=2)),e&&e.__v?(o.__u|=16,c==l-1?_--:c==l+1?_++:c!=l&&(c>l?_--:_++,g=1)):(~c||(i>v?_--:i<v&&_++),"function"!=typeof o.type&&(o.__u|=4))):k[f]=null;if(g){for(a=[],s=[],f=0;f<i;f++)if((o=k[f])&&16&o.__u){for(_=0,p=a.length;_<p;)a[y=_+p>>1]<o.__i?_=y+1:p=y;a[_]=o.__i,s[f]=_+1;}for(_=a.length;f--;)s[f]&&(s[f]==_?_--:k[f].__u|=4);}if(d)for(f=0;f<v;f++)!(e=r[f])||2&e.__u||(e.__e==u&&(u=S(e)),J(e,e));return u}function A$1(n,t,r,u){var i,f,o,e;if("function"==typeof n.type){if(n.props.__P)return t;if(i=n.__k)for(f=0;f<i.length;f++)i[f]&&(i[f].__=n,t=A$1(i[f],t,r,false));return t}for(t&&!t.parentNode&&(t=S(n))&&!t.parentNode&&(t=null),o=n.__e,e=t;e&&8==e.nodeType;)e=e.nextSibling;for(o!=e&&(!u&&r.moveBefore&&o.parentNode?r.moveBefore(o,t):r.insertBefore(o,t||null)),t=o;(t=t&&t.nextSibling)&&8==t.nodeType&&!t.data.startsWith("$s"););return t}function P$1(n,t,r,u){var i,f=n.key,o=n.type,e=t[r],l=e&&!(2&e.__u);if(null===e&&null==f||l&&f==e.key&&o==e.type)return r;if(u>(l?1:0)){for(i=r-1;i>=0;i--)if((e=t[i])&&!(2&e.__u)&&f==e.key&&o==e.type)return i;for(i=r+1;i<t.length;i++)if((e=t[i])&&!(2&e.__u)&&f==e.key&&o==e.type)return i}return  -1}function T$1(n,t,r){null==r&&(r=""),"-"==t[0]?n.setProperty(t,r):n[t]=r;}function N(n,t,r,u,i){var f,o;if("style"==t)if("string"==typeof r)n.style.cssText=r;else {if("string"==typeof u&&(n.style.cssText=u=""),u)for(t in u)r&&t in r||T$1(n.style,t);if(r)for(t in r)u&&r[t]==u[t]||T$1(n.style,t,r[t]);}else if("o"==t[0]&&"n"==t[1])"function"!=typeof r&&(r=null),"function"!=typeof u&&(u=null),(n.__e||(n.__e={}))[t]=r,r&&u||(o=a$1[t]||(a$1[t]=V(t)),(n.__a||(n.__a={}))[t]=c$1,f=t!=(t=t.replace(l$1,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),r?n.addEventListener(t,o,f):n.removeEventListener(t,o,f));else {if("http://www.w3.org/2000/svg"==i)t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if("width"!=t&&"height"!=t&&"href"!=t&&"list"!=t&&"form"!=t&&"tabIndex"!=t&&"download"!=t&&"rowSpan"!=t&&"colSpan"!=t&&"role"!=t&&"popover"!=t&&t in n)try{return void(n[t]=null==r?"":r)}catch(n){}if("function"==typeof r)return;null==r||false===r&&"-"!=t[4]?n.removeAttribute(t):n.setAttribute(t,"popover"==t&&1==r?"":r);}}function V(t){return function(r){var u=this.__e;if(u){if(u=u[t],null==r[e$1])r[e$1]=c$1++;else if(r[e$1]<this.__a[t])return;return u(n.event?n.event(r):r)}}}function z$1(t,r,u,i,f,o,e,l,c,a){var s,p,v,d,k,b,m,M,C,j,L,H,q,A,O,P,T,N,V=r.type;if(r.constructor!==h$1)return null;128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],8==s.nodeType?l=B$1(s,o):o.push(s),l=o[0]||l),(s=n.__b)&&s(r);n:if("function"==typeof V){v=e.length;try{if(M=r.props,C=(s=V.prototype)&&s.render,j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,(d=u.__c)?(r.__c=d,2&d.__g&&(d.__g|=1)):(C?r.__c=d=new V(M,L):(r.__c=d=new x$1(M,L),d.constructor=V,d.render=K),j&&j.sub(d),d.state||(d.state={}),d.__n=i,d.__g|=8,d.__h=[],d.__k=[]),C&&(d.__s||(d.__s=d.state),V.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=_$1({},d.__s)),_$1(d.__s,V.getDerivedStateFromProps(M,d.__s)))),k=d.props,b=d.state,d.__v=r,u.__c){if(M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(M,L),r.__v==u.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&!1===d.shouldComponentUpdate(M,d.__s,L)){r.__v!=u.__v&&(d.props=M,d.state=d.__s,d.__g&=-9),r.__e=u.__e,r.__k=u.__k,r.__k.some(function(n){n&&(n.__=r);}),y$1.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&e.push(d),l=S(u);break n}d.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),C&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(k,b,m);});}else C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),C&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=L,d.props=M,d.__P=t,d.__g&=-5,H=n.__r,q=C?25:0;do{d.__g&=-9,H&&H(r),s=d.render(d.props,d.state=d.__s,d.context);}while(8&d.__g&&++q<25);C&&(y$1.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(i=_$1({},i,d.getChildContext())),C&&u.__c&&d.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),A=s&&s.type===$&&null==s.key?s.props.children:s,M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&(u.__k.some(function(n){n&&J(n,n);}),u.__k=null),l=u.__k?S(u,0):null),l=I(t,w$1(A)?A:[A],r,u,i,f,o,e,l,c,a),M.__P&&(r.__e=null,l=s),r.__u&=-161,p&&p.some(g$1),d.__h.length&&e.push(d),1&d.__g&&(d.__g&=-4);}catch(t){if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else {if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B$1(O=N));}}if(!O){for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l;}(s=B$1(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling;}else o&&o.some(g$1);else r.__e=u.__e;r.__k||(r.__k=u.__k||[]),t&&t.then||D$1(r),n.__e(t,r,u);}}else l=r.__e=F$1(u.__e,r,u,i,f,o,e,c,a,t);return (s=n.diffed)&&s(r),l}function B$1(n,t){if(n&&8==n.nodeType&&n.data.startsWith("$s"))for(var r=1;n=n.nextSibling;){if(8==n.nodeType)if(n.data.startsWith("$s"))r++;else if(n.data.startsWith("/$s")&&!--r)return n;t&&t.push(n);}}function D$1(n){n&&(n.__c&&(n.__c.__g|=4),n.__k&&n.__k.some(D$1));}function E$1(t,r,u){for(var i=0;i<u.length;)G$1(u[i++],u[i++],u[i++]);n.__c&&n.__c(r,t),t.some(function(r){try{t=r.__h,r.__h=[],t.some(function(n){n.call(r);});}catch(t){n.__e(t,r.__v);}});}function F$1(t,r,u,i,f,o,e,l,c,a){var s,h,y,_,k,b,m,M,$=u.props||p$1,x=r.props,C=r.type;if("svg"==C?f="http://www.w3.org/2000/svg":"math"==C?f="http://www.w3.org/1998/Math/MathML":f||(f="http://www.w3.org/1999/xhtml"),o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){t=k,o[s]=null;break}if(!t){if(M=a.ownerDocument||document,!C)return M.createTextNode(x);t=M.createElementNS(f,C,x.is?x:a),l&&(n.__m&&n.__m(r,o),l=false),o=null;}if(C){if(a="template"==C&&t.content||t,o="textarea"==C&&null!=x.defaultValue?null:o&&d$1.call(a.childNodes),!l&&o)for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;for(s in $)k=$[s],"dangerouslySetInnerHTML"==s?y=k:"children"==s||s in x||"value"==s&&"defaultValue"in x||"checked"==s&&"defaultChecked"in x||N(t,s,null,k,f);for(s in x)k=x[s],"children"==s?_=k:"dangerouslySetInnerHTML"==s?h=k:"value"==s?b=k:"checked"==s?m=k:l&&"function"!=typeof k||$[s]===k||N(t,s,k,$[s],f);h?(l||y&&(h.__html==y.__html||h.__html==t.innerHTML)||(t.innerHTML=h.__html),r.__k=[]):(y&&(t.textContent=""),("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v$1.test(C))&&(f="http://www.w3.org/1999/xhtml"),I(a,w$1(_)?_:[_],r,u,i,f,o,e,o?o[0]:u.__k&&S(u,0),l,c),o&&o.some(g$1)),l&&"textarea"!=C||(s="value","progress"==C&&null==b?t.removeAttribute(s):null==b||b===t[s]&&("progress"!=C||b)||N(t,s,b,$[s],f),s="checked",null!=m&&m!=t[s]&&N(t,s,m,$[s],f));}else $===x||l&&t.data==x||(t.data=x);return t}function G$1(t,r,u,i){try{"function"==typeof t?r?r.__x=t(r)||1:i&&(i=i.__c||i.__e)&&(r=i.__x)&&(i.__x=null,"function"==typeof r?r():t(null)):t.current=r;}catch(t){n.__e(t,u);}}function J(t,r,u){var i,f,o,e;if(n.unmount&&n.unmount(t),!(i=t.ref)||i.current&&i.current!=t.__e||G$1(i,null,r,t),i=t.__c){if(i.componentWillUnmount)try{i.componentWillUnmount();}catch(t){n.__e(t,r);}i.__P=i.__n=null;}if(i=t.__k)for(e=0;e<i.length;e++)i[e]&&J(i[e],r,"function"!=typeof t.type||u&&!t.props.__P);!u&&(i=t.__c)&&(i=i.__z)&&(f=B$1(i,o=[]))&&(i==t.__e&&o.some(g$1),g$1(f),g$1(i)),u||g$1(t.__e),t.__e=t.__c=t.__=null;}function K(n,t,r){return this.constructor(n,r)}function Q(t,r){var u,i,f,o;n.__&&n.__(t,r),9==r.nodeType&&(r=r.documentElement),i=(u=t&&32&t.__u)?null:r.__k,r.__k=m$1($,{children:[t]}),f=[],o=[],z$1(r,r.__k,i||p$1,p$1,r.namespaceURI,i?null:r.firstChild?d$1.call(r.childNodes):null,f,i?i.__e:r.firstChild,u,o),E$1(f,r.__k,o),r.__k.props.children=null;}function U(n){function t(n){var r,u;return this.getChildContext||(r=new Set,(u={})[t.__c]=this,this.getChildContext=function(){return u},this.shouldComponentUpdate=function(n){this.props.value!=n.value&&r.forEach(function(n){n.__g|=4,L(n);});},this.sub=function(n){r.add(n);var t=n.componentWillUnmount;n.componentWillUnmount=function(){r.delete(n),t&&t.call(n);};}),n.children}return t.__c="__cC"+s$1++,t.__=n,t.Provider=(t.Consumer=function(n,t){return n.children(t)}).contextType=t,t}n={__e:function(n,t,r,u){for(var i,o,e;t=t.__;)if((i=t.__c)&&!(1&i.__g)){i.__g|=4;try{if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t;}}throw f$1=0,n}},t$2=0,x$1.prototype.setState=function(n,t){var r=this.__s;r&&r!=this.state||(r=this.__s=_$1({},this.state)),"function"==typeof n&&(n=n(_$1({},r),this.props)),n&&(_$1(r,n),this.__v&&(t&&this.__k.push(t),L(this)));},x$1.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.push(n),L(this));},x$1.prototype.render=$,u$1=[],f$1=0,o$1=function(n,t){return n.__v.__b-t.__v.__b},e$1=Symbol(),l$1=/(PointerCapture)$|Capture$/i,c$1=0,a$1={},s$1=0;

// Pages that the browser translates: it puts <font> elements in the place of the text nodes that Preact knows. Before
// a component is drawn anew, its own text nodes go back to their places; the browser translates what is new again.
// Uses Preact's private names: docs/decisions/web-client.md#0100

const fonts = document.getElementsByTagName("font");

// The nodes that stand in an element, in order; `below` receives the vnodes of elements.
function nodesOf(vnode, nodes, below) {
  for (const child of vnode?.__k ?? []) {
    if (!child) continue;
    if (typeof child.type === "function") nodesOf(child, nodes, below);
    else if (child.__e) {
      nodes.push(child.__e);
      if (child.type) below.push(child);
    }
  }
}

function restore(vnode, host) {
  const [nodes, below] = [[], []];
  nodesOf(vnode, nodes, below);
  for (const child of [...host.children]) if (child.localName === "font") child.remove();
  let next = null;
  for (const node of nodes.reverse()) {
    if (node.parentNode !== host) host.insertBefore(node, next);
    next = node;
  }
  for (const child of below) restore(child, child.__e);
}

// A hook that Preact has for its own tools.
/** @type {{ __r?: (vnode: any) => void }} */
const hooks = /** @type {any} */ (n);
const drawn = hooks.__r;
hooks.__r = (vnode) => {
  // What its parent draws with it has been restored with the parent.
  if (fonts.length && vnode.__k && vnode.__c?.__P) {
    let top = vnode;
    while (top.__ && typeof top.type !== "string") top = top.__;
    restore(top, typeof top.type === "string" ? top.__e : vnode.__c.__P);
  }
  drawn?.(vnode);
};

var t$1,r,u,i,o=Object.is,f=0,c=[],e=[],a=n,v=a.__b,l=a.__r,m=a.diffed,h=a.__c,s=a.unmount,p=a.__;function y(n,t){a.__h&&a.__h(r,n,f||t),f=0;var u=r.__H||(r.__H={__:[],__h:[]});return n>=u.__.length&&u.__.push({}),u.__[n]}function d(n){return f=1,_(G,n)}function _(n,u,i){var f=y(t$1++,2);if(f.t=n,!f.__c&&(f.__=[i?i(u):G(void 0,u),function(n){var t=(f.__N||f.__)[0],r=f.t(t,n);o(t,r)||(f.__N=[r,f.__[1]],f.__c.setState({}));}],f.__c=r,!r.__f)){r.__f=true;var c=r.shouldComponentUpdate;r.shouldComponentUpdate=function(n,t,r){var u=this.__H;if(!u)return  true;var i=false,f=this.props!=n;if(u.__.some(function(n){n.__N&&(i=true,o(n.__[0],n.__N[0])||(f=true));}),c){var e=c.call(this,n,t,r);return i?e||f:e}return !i||f};}return f.__}function A(n,u){var i=y(t$1++,3);!a.__s&&E(i.__H,u)&&(i.__P=true,i.__=n,i.u=u,r.__H.__h.push(i));}function F(n,u){var i=y(t$1++,4);!a.__s&&E(i.__H,u)&&(i.__P=false,i.__=n,i.u=u,r.__h.push(i));}function T(n){return f=5,w(function(){return {current:n}},[])}function q(n,t,r){f=6,F(function(){if("function"==typeof n){var r=n(t());return function(){n(null),"function"==typeof r&&r();}}if(n)return n.current=t(),function(){return n.current=null}},null==r?r:r.concat(n));}function w(n,r){var u=y(t$1++,7);return E(u.__H,r)&&(u.__=n(),u.__H=r),u.__}function b(n,t){return f=8,w(function(){return n},t)}function j(n){var u=r.context[n.__c],i=y(t$1++,9);return i.c=n,u?(null==i.__&&(i.__=true,u.sub(r)),u.props.value):n.__}function x(n,t){a.useDebugValue&&a.useDebugValue(t?t(n):n);}function O(n){var u=y(t$1++,10),i=d();return u.__=n,r.componentDidCatch||(r.componentDidCatch=function(n,t){u.__&&u.__(n,t),i[1](n);}),[i[0],function(){return i[1]()}]}function P(){var n=y(t$1++,11);if(!n.__){for(var u=r.__v;!u.__m&&u.__;)u=u.__;var i=u.__m||(u.__m=[0,0]);n.__="P"+i[0]+"-"+i[1]++;}return n.__}function g(){var n;do{for(;n=e.shift();)try{C(n);}catch(t){a.__e(t,{__:(n=n.__P)&&n.__v});}for(;n=c.shift();){var t=n.__H;if(n.__P&&t)try{t.__h.some(C),t.__h.some(D),t.__h=[];}catch(r){t.__h=[],a.__e(r,n.__v);}}}while(e.length)}a.__b=function(n){r=null,v&&v(n);},a.__=function(n,t){n&&t.__k&&t.__k.__m&&(n.__m=t.__k.__m),p&&p(n,t);},a.__r=function(n){l&&l(n),t$1=0;var i=(r=n.__c).__H;i&&(u==r?r.__h=[]:(i.__h.some(C),i.__h.some(D),t$1=0),i.__h=[],i.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0;})),u=r;},a.diffed=function(n){m&&m(n);var t=n.__c;t&&t.__H&&(t.__H.__h.length&&B(c.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u);})),u=r=null;},a.__c=function(n,t){t.some(function(n){try{n.__h.some(C),n.__h=n.__h.filter(function(n){return !n.__||D(n)});}catch(t){n.__h=[function(){throw t}];}}),h&&h(n,t);},a.unmount=function(n){s&&s(n);var t,r,u=n.__c;u&&u.__H&&(u.__H.__.some(function(u){try{if(u.__P&&u.__c){if(void 0===r){for(r=n.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c;}u.__P=r,B(e.push(u));}else C(u);}catch(n){t=n;}}),u.__H=void 0,t&&a.__e(t,u.__v));};var k="function"==typeof requestAnimationFrame;function z(n){var t,r=function(){clearTimeout(u),k&&cancelAnimationFrame(t),setTimeout(n);},u=setTimeout(r,35);k&&(t=requestAnimationFrame(r));}function B(n){1!=n&&i==a.requestAnimationFrame||((i=a.requestAnimationFrame)||z)(g);}function C(n){var t=r,u=n.__c;"function"==typeof u&&(n.__c=void 0,u()),r=t;}function D(n){var t=r;n.__c=n.__(),r=t;}function E(n,t){return !n||n.length!=t.length||t.some(function(t,r){return !o(t,n[r])})}function G(n,t){return "function"==typeof t?t(n):t}

// Preact, its hooks and htm under one roof: components write html`<p>…</p>`.

const html = htm.bind(k$1);

/** The only module that uses the browser's storage, which may be forbidden, missing or full. */

/** The Storage interface in memory. */
class MemoryStorage {
  #rows = new Map();

  get length() {
    return this.#rows.size;
  }

  key(index) {
    return [...this.#rows.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#rows.get(key) ?? null;
  }

  setItem(key, value) {
    this.#rows.set(key, String(value));
  }

  removeItem(key) {
    this.#rows.delete(key);
  }
}

const PROBE = "parley.probe";

function usable(name) {
  try {
    const storage = globalThis[name];
    // A storage that can be read may still refuse every write.
    storage.setItem(PROBE, "");
    storage.removeItem(PROBE);
    return storage;
  } catch {
    return null;
  }
}

const found = new Map();

/** "localStorage" or "sessionStorage"; where the browser has neither, in memory until the page is closed. */
function browserStorage(name) {
  if (!found.has(name)) found.set(name, usable(name) ?? new MemoryStorage());
  return found.get(name);
}

/** Whether stored data outlives the page. */
function isKept(storage) {
  return !(storage instanceof MemoryStorage);
}

/** The same storage; values for which it has no room stay in memory. */
class SafeStorage {
  #storage;
  #rest = new MemoryStorage();

  constructor(storage) {
    this.#storage = storage;
  }

  get length() {
    return this.#keys().length;
  }

  key(index) {
    return this.#keys()[index] ?? null;
  }

  getItem(key) {
    return this.#rest.getItem(key) ?? this.#storage.getItem(key);
  }

  setItem(key, value) {
    try {
      this.#storage.setItem(key, value);
      this.#rest.removeItem(key);
    } catch {
      this.#rest.setItem(key, value);
    }
  }

  removeItem(key) {
    this.#rest.removeItem(key);
    this.#storage.removeItem(key);
  }

  #keys() {
    const keys = (storage) => Array.from({ length: storage.length }, (_, index) => storage.key(index));
    return [...new Set([...keys(this.#storage), ...keys(this.#rest)])];
  }
}

/** Whether the browser may keep files. Opening the database may still fail. */
function hasDatabases() {
  try {
    return Boolean(globalThis.indexedDB);
  } catch {
    return false;
  }
}

/** An IndexedDB database with one object store. */
function openDatabase(name, store) {
  return new Promise((resolve, reject) => {
    const request = globalThis.indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// What this browser keeps for the client. Nothing else of the client touches its storage.

// Of all windows, and of this one. The SDK takes the browser's own: by it, tabs know one another.
const ofBrowser = browserStorage("localStorage");
const ofWindow = browserStorage("sessionStorage");
const stored = new SafeStorage(ofBrowser);
const storedHere = new SafeStorage(ofWindow);

// Whether a sign-in outlives a reload of the page.
const isKeeping = isKept(ofBrowser) && isKept(ofWindow);

// A JSON value; `empty` when there is none, or none that can be read.
function readStored(storage, key, empty) {
  try {
    return JSON.parse(storage.getItem(key)) ?? empty;
  } catch {
    return empty;
  }
}

// The language of the page: texts, plural forms, dates and numbers.
// English is what the sources say; the other languages come from /app/catalog/<language>.json.


const LANGUAGES = [
  ["en", "English"],
  ["ru", "Русский"],
  ["es", "Español"],
  ["de", "Deutsch"],
  ["fr", "Français"],
  ["pt", "Português"],
  ["tr", "Türkçe"],
  ["uk", "Українська"],
  ["ar", "العربية"],
  ["zh-hans", "简体中文"],
];
const CODES = LANGUAGES.map(([code]) => code);
const STORED = "parley.language";
const ENGLISH = { language: "en", plural_locale: "en", plural_categories: ["one", "other"], texts: {} };

let catalog = ENGLISH;
let wanted = "en";
let rules = new Intl.PluralRules("en");
let formats = new Map();
const listeners = new Set();

/** The text in the reader's language; {name} stands for values.name. */
function t(text, values) {
  return filled(catalog.texts[text] || text, values);
}

/** The form of a text that fits the number; {n} is the number as the language writes it. */
function tn(one, many, n, values) {
  return filled(forms(one, many)[formIndex(n)], { n: number(n), ...values });
}

function forms(one, many) {
  const translated = catalog.texts[one];
  return Array.isArray(translated) ? translated : formsOfEnglish(one, many);
}

function formsOfEnglish(one, many) {
  return catalog.plural_categories.map((category) => (category === "one" ? one : many));
}

/** Which of the catalog's forms the number takes; a category that it does not have takes the last one. */
function formIndex(n) {
  const index = catalog.plural_categories.indexOf(rules.select(n));
  return index < 0 ? catalog.plural_categories.length - 1 : index;
}

function filled(text, values) {
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : text;
}

function language() {
  return catalog.language;
}

function direction() {
  return catalog.language === "ar" ? "rtl" : "ltr";
}

/** Ours for a tag such as "pt-BR" or "zh-CN"; null when it is none of ours. */
function supported(tag) {
  const lower = String(tag || "").toLowerCase();
  if (CODES.includes(lower)) return lower;
  const base = lower.split(/[-_]/)[0];
  return base === "zh" ? "zh-hans" : CODES.includes(base) ? base : null;
}

/** What was chosen here, else what the browser asks for. */
function preferredLanguage() {
  const tags = [stored.getItem(STORED), ...(navigator.languages || [navigator.language])];
  return tags.map(supported).find(Boolean) || "en";
}

/** Switch the language: fetch its texts, translate the page, notify subscribers. A failed fetch changes nothing. */
async function useLanguage(tag, { remember = true, addresses = {} } = {}) {
  const code = supported(tag) || "en";
  wanted = code;
  if (remember) stored.setItem(STORED, code);
  if (code !== catalog.language) {
    const loaded = code === "en" ? ENGLISH : await fetched(addresses[code] || `/app/catalog/${code}.json`);
    // Another one may have been chosen meanwhile.
    if (loaded && wanted === code) setCatalog(loaded);
  }
  // The server writes the page for what the browser asks for.
  markPage();
  return catalog.language;
}

/** What a screen reader, hyphenation and the layout go by. */
function markPage() {
  if (typeof document === "undefined") return;
  document.documentElement.lang = catalog.language === "zh-hans" ? "zh-Hans" : catalog.language;
  document.documentElement.dir = direction();
}

async function fetched(address) {
  try {
    const response = await fetch(address);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function setCatalog(loaded) {
  catalog = loaded;
  rules = new Intl.PluralRules(loaded.plural_locale);
  formats = new Map();
  markPage();
  for (const listener of listeners) listener(loaded.language);
}

/** Called after each change of language; returns the function that ends it. */
function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function format(kind, options) {
  const key = `${kind.name}:${JSON.stringify(options)}`;
  if (!formats.has(key))
    formats.set(key, new kind(kind === Intl.DateTimeFormat ? region() : catalog.language, options));
  return formats.get(key);
}

/** The language as the reader's country writes its times: "en-GB" for English in a British browser. */
function region() {
  const script = (tag) => new Intl.Locale(tag).maximize().script;
  const isSame = (tag) => {
    try {
      return supported(tag) === catalog.language && script(tag) === script(catalog.language);
    } catch {
      return false;
    }
  };
  return globalThis.navigator?.languages?.find(isSame) ?? catalog.language;
}

function number(value) {
  return format(Intl.NumberFormat, {}).format(value);
}

/** 14:05, 2:05 PM */
function time(value) {
  return format(Intl.DateTimeFormat, { timeStyle: "short" }).format(new Date(value));
}

/** 22 Nov */
function shortDay(value) {
  return format(Intl.DateTimeFormat, { day: "numeric", month: "short" }).format(new Date(value));
}

/** 22 November 2026 */
function day(value) {
  return format(Intl.DateTimeFormat, { day: "numeric", month: "long", year: "numeric" }).format(new Date(value));
}

/** 22 Nov 2026, 14:05 */
function dateTime(value) {
  return format(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "short" }).format(new Date(value));
}

/** "today", "yesterday", else the date: for dividers between days. */
function dayName(value, now = new Date()) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(new Date(value)) - midnight(now)) / 86_400_000);
  if (days < -1 || days > 0) return day(value);
  return format(Intl.RelativeTimeFormat, { numeric: "auto" }).format(days, "day");
}

/** "5 minutes ago" */
function ago(value, now = Date.now()) {
  const seconds = Math.round((new Date(value).getTime() - now) / 1000);
  /** @type {[string, number][]} */
  const units = [
    ["year", 31_536_000],
    ["month", 2_592_000],
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ];
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  const amount = unit === "second" ? 0 : Math.trunc(seconds / size);
  return format(Intl.RelativeTimeFormat, { numeric: "auto" }).format(amount, unit);
}

/** 1:05 or 1:02:03, from seconds. */
function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** "4.2 MB", rounded up: what is above a limit is never shown as the limit. */
function bytes(size) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(units.length - 1, Math.floor(Math.log(Math.max(size, 1)) / Math.log(1024)));
  const options = { style: "unit", unit: units[step], unitDisplay: "short" };
  return format(Intl.NumberFormat, options).format(Math.ceil((size / 1024 ** step) * 10) / 10);
}

// As short as a list has room for: the time of today, else the day.
function shortTime(value) {
  if (new Date(value).toDateString() === new Date().toDateString()) return time(value);
  const name = dayName(value);
  return name === day(value) ? shortDay(value) : name;
}

// An observable value with subscribers, and the hook that reads one: of this kind, or a part of the SDK's store.

function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    getSnapshot: () => value,
    // A part of the value, or a function from the old value to a part of the new one.
    set(change) {
      const part = typeof change === "function" ? change(value) : change;
      if (!part || Object.keys(part).every((key) => Object.is(part[key], value[key]))) return;
      value = { ...value, ...part };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @type {any} In place of a part that is not wanted. */
const NOTHING = { getSnapshot: () => null, subscribe: () => () => {} };

// Redraws the component when what `select` takes from the source changes.
function useStore(source, select = (/** @type {any} */ value) => value) {
  const [, redraw] = d(0);
  const drawn = T(null);
  const selected = select(source.getSnapshot());
  drawn.current = { select, selected };
  F(() => {
    const check = () => {
      const { select: now, selected: before } = drawn.current;
      if (!Object.is(now(source.getSnapshot()), before)) redraw((count) => count + 1);
    };
    const end = source.subscribe(check);
    check();
    return end;
  }, [source]);
  return selected;
}

// Short messages at the edge of the window: notice(text), or with an action: notice(text, {label, act}).

// Those that are shown, oldest first.
const list = createStore({ notices: [] });

const SECONDS = 6;
let last = 0;

/**
 * `gone` is called once when the notice goes, whether by time, by its buttons, or for another one.
 * @param {string} text
 * @param {{ label?: string, act?: () => void, gone?: () => void, kind?: "info" | "danger", seconds?: number }} [options]
 */
function notice(text, { label, act, gone, kind = "info", seconds = SECONDS } = {}) {
  last += 1;
  const entry = { id: last, text, label, act, gone, kind, seconds, heldBy: new Set() };
  show([...list.getSnapshot().notices.filter((other) => other.text !== text), entry].slice(-3));
  startTime(entry);
  return () => dismiss(entry.id);
}

function dismiss(id) {
  show(list.getSnapshot().notices.filter((other) => other.id !== id));
}

function show(next) {
  const before = list.getSnapshot().notices;
  list.set({ notices: next });
  for (const entry of before.filter((other) => !next.includes(other))) {
    clearTimeout(entry.timer);
    entry.gone?.();
  }
}

function startTime(entry) {
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => dismiss(entry.id), entry.seconds * 1000);
}

// What went wrong, in the reader's language: the server's words, or ours where it has not answered.
function errorText(error) {
  const hasText = error?.message && error.message !== error.code;
  // With 502 and the like a proxy answers in place of the server.
  if (error?.code === "network_error" || (!hasText && error?.status >= 500)) return t("The server cannot be reached.");
  return hasText ? error.message : t("Something went wrong");
}

function failed$2(error) {
  if (error?.code !== "aborted") notice(errorText(error), { kind: "danger" });
}

// The title of the window: unread messages first, then the page.

// As the server has written it into the page.
const PRODUCT = document.title;
const title = createStore({ page: "", ring: "", unread: 0 });

// A page says what it is: useTitle(t("Settings")).
function useTitle(page) {
  F(() => title.set({ page }), [page]);
}

// As long as it rings, the title says who calls: in a window that is not in sight it is all there is to see.
function useRingTitle(text) {
  F(() => {
    title.set({ ring: text });
    return () => title.set({ ring: "" });
  }, [text]);
}

// How many messages are unread, as long as someone is signed in.
function useUnreadTitle(unread) {
  F(() => {
    title.set({ unread });
    return () => title.set({ unread: 0 });
  }, [unread]);
}

// Once, in the shell.
function usePageTitle() {
  const { page, ring, unread } = useStore(title);
  F(() => {
    if (ring) {
      document.title = `${ring} · ${PRODUCT}`;
      return;
    }
    const name = page ? `${page} · ${PRODUCT}` : PRODUCT;
    document.title = unread > 0 ? `(${unread}) ${name}` : name;
  }, [page, ring, unread]);
}

/** The differences between a browser and Node, and between one tab and several. */

const PROPAGATION_MS = 300;
/** How long to wait for a tab that sends messages and may have stopped. A message sent by both has one `client_id`. */
const SENDING_MS = 90_000;

function defaultStorage() {
  // Node warns when no file is configured.
  return isBrowser() ? browserStorage("localStorage") : new MemoryStorage();
}

function isBrowser() {
  return typeof document === "object" && document !== null;
}

function randomId() {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A signal that aborts with the first of several; undefined for none. Safari before 17.4 has no `AbortSignal.any`. */
function anySignal(signals) {
  if (signals.length < 2) return signals[0];
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: controller.signal });
  }
  return controller.signal;
}

function timeoutSignal(ms) {
  if (AbortSignal.timeout) return AbortSignal.timeout(ms);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), ms);
  return controller.signal;
}

const failures$1 = new Map();
// Bundlers take an address that is made of `import.meta.url` in one expression for that of a file to copy.
const here = import.meta.url;

/**
 * Imports a module of this folder with `load`, which names it, so that bundlers find it. A browser may remember the
 * failure of a module until the page is closed, so a failed module is requested again under another address.
 */
async function importAgain(name, load) {
  const count = failures$1.get(name);
  try {
    if (!count) return await load();
    return await import(/* @vite-ignore */ new URL(`${name}?retry=${count}`, here).href).catch(load);
  } catch (error) {
    failures$1.set(name, (count ?? 0) + 1);
    throw error;
  }
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * In a browser: calls `online` when the network is back or the page becomes visible, `offline` when the network is
 * lost. Returns the function that ends this.
 */
function onNetwork({ online, offline }) {
  if (!isBrowser()) return () => {};
  const visible = () => document.visibilityState === "visible" && online();
  addEventListener("online", online);
  addEventListener("offline", offline);
  document.addEventListener("visibilitychange", visible);
  return () => {
    removeEventListener("online", online);
    removeEventListener("offline", offline);
    document.removeEventListener("visibilitychange", visible);
  };
}

/** The tabs of one browser that share a sign-in: messages among them, and locks. */
class Tabs {
  #channel = null;
  #handlers = new Set();
  #queues = new Map();
  #onStorage = null;
  #id = null;
  #leave = null;
  #awaited = new Set();

  constructor(name, storage) {
    this.name = name;
    this.isShared = isBrowser() && isKept(storage) && storage === browserStorage("localStorage");
    if (!this.isShared) return;
    if (typeof BroadcastChannel === "function") {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }) => this.#dispatch(data);
    }
    // The channel may be missing, or a tab may die before it could post what it wrote.
    this.#onStorage = ({ key }) => {
      if (key === null || key.startsWith(`${name}.`)) this.#dispatch({ type: "storage", key });
    };
    addEventListener("storage", this.#onStorage);
  }

  on(handler) {
    this.#handlers.add(handler);
  }

  post(message) {
    this.#channel?.postMessage(message);
  }

  /**
   * Runs `work` while no other tab (and nothing else here) holds the lock of that name. A tab that the system has
   * stopped may hold it for ever, so `work` runs without it after `patience` milliseconds.
   */
  async lock(name, work, patience = Infinity) {
    const full = `${this.name}.${name}`;
    if (this.#hasLocks) return this.#lockAmongTabs(full, work, patience);
    const before = this.#queues.get(full) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#queues.set(
      full,
      result.catch(() => {}),
    );
    return result;
  }

  async #lockAmongTabs(full, work, patience) {
    const waiting = new AbortController();
    const timer = patience < Infinity ? setTimeout(() => waiting.abort(), patience) : null;
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      clearTimeout(timer);
      return work();
    };
    try {
      return await navigator.locks.request(full, { signal: waiting.signal }, begin);
    } catch (error) {
      // The lock was not granted in time, or was refused by the browser.
      if (hasBegun) throw error;
      return begin();
    }
  }

  /** The name of this tab, by which the others can wait for its end. */
  get id() {
    if (this.#id === null) {
      this.#id = randomId();
      // Held as long as the tab lives; the browser releases it when the tab closes or dies.
      if (this.#hasLocks) this.lock(`tab.${this.#id}`, () => new Promise((resolve) => (this.#leave = resolve)));
    }
    return this.#id;
  }

  /** Runs `act` once when the tab of that name is gone, where that can be known. */
  whenGone(id, act) {
    if (!id || id === this.#id || this.#awaited.has(id) || !this.#hasLocks) return;
    this.#awaited.add(id);
    this.lock(`tab.${id}`, () => this.#handlers.size > 0 && act());
  }

  /** Waits until this tab can read what another tab has just stored, which browsers pass on with a delay. */
  async waitForStorage() {
    if (this.isShared) await sleep(PROPAGATION_MS);
  }

  close() {
    this.#leave?.();
    this.#channel?.close();
    if (this.#onStorage) removeEventListener("storage", this.#onStorage);
    this.#handlers.clear();
  }

  get #hasLocks() {
    return this.isShared && Boolean(globalThis.navigator?.locks);
  }

  #dispatch(message) {
    for (const handler of this.#handlers) handler(message);
  }
}

// The pauses before a handler that failed gets its event again.
const PAUSES_MS = [200, 1_000, 5_000];
// A handler that is not done by then does not hold up the next event.
const LONGEST_MS = 30_000;

/** Handlers by event name. A handler that throws is reported and does not stop the others. */
class Emitter {
  #handlers = new Map();

  /** Returns the function that unsubscribes. The name "*" receives every event as (name, data, frame). */
  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => this.off(name, handler);
  }

  once(name, handler) {
    const off = this.on(name, (...values) => {
      off();
      handler(...values);
    });
    return off;
  }

  off(name, handler) {
    this.#handlers.get(name)?.delete(handler);
  }

  emit(name, data, frame) {
    for (const [handler, values] of this.#calls(name, data, frame)) run(handler, values);
  }

  /**
   * The same for an event that must not be lost: a handler that fails gets it again. Resolves when all handlers are
   * done; undefined if they are done already.
   */
  deliver(name, data, frame) {
    const pending = this.#calls(name, data, frame).map(([handler, values]) => finish(handler, values));
    return pending.some(Boolean) ? inTime(Promise.all(pending)) : undefined;
  }

  #calls(name, data, frame) {
    const of = (key, values) => [...(this.#handlers.get(key) ?? [])].map((handler) => [handler, values]);
    return [...of(name, [data, frame]), ...of("*", [name, data, frame])];
  }
}

/** Calls a handler; one that throws is reported and stops nothing else. */
function run(handler, values) {
  try {
    const result = handler(...values);
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}

function finish(handler, values) {
  try {
    const result = handler(...values);
    return result instanceof Promise ? result.catch((error) => repeat(error, handler, values)) : undefined;
  } catch (error) {
    return repeat(error, handler, values);
  }
}

function inTime(work) {
  let timer = null;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

async function repeat(first, handler, values) {
  let error = first;
  for (const pause of PAUSES_MS) {
    report(error);
    await sleep(pause);
    try {
      return await handler(...values);
    } catch (next) {
      error = next;
    }
  }
  report(error);
}

function report(error) {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}

// A reply on the socket has no status. These codes have one that matters to callers.
const STATUS_OF = {
  rate_limited: 429,
  account_locked: 429,
  server_error: 500,
  service_unavailable: 503,
  call_conflict: 409,
};

/** An error of the API, the socket or the network. Branch on `code`, never on the text. */
class ParleyError extends Error {
  /**
   * @param {string} code
   * @param {{ message?: string, status?: number, fields?: Record<string, string[]> | null, retryAfter?: number | null,
   *   requestId?: string | null, cause?: unknown }} [answer]
   */
  constructor(code, { message = code, status = 0, fields = null, retryAfter = null, requestId = null, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ParleyError";
    this.code = code;
    this.status = status;
    this.fields = fields;
    /** Seconds, with 429 and 503. */
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  /** Whether the same request may succeed later without a change. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  static fromBody(body, status = 0, headers = null) {
    const retryAfter = body?.retry_after ?? (Number(headers?.get("Retry-After")) || null);
    return new ParleyError(body?.error ?? (status >= 500 ? "server_error" : "bad_response"), {
      message: body?.message,
      status,
      fields: body?.fields ?? null,
      retryAfter,
      requestId: body?.request_id ?? headers?.get("X-Request-Id") ?? null,
    });
  }

  /** Converts an error reply on the socket. */
  static fromFrame(body) {
    return ParleyError.fromBody(body, STATUS_OF[body.error] ?? 400);
  }
}

/** Decides when a lost socket is opened again. */

// A server that answers HTTP does so at once.
const PROBE_MS = 8_000;
const FLOODING_MS = 5_000;
const LONGEST_BACKOFF_MS$1 = 20_000;
const CLOSE = { UNAUTHORISED: 4401, FORBIDDEN: 4403, SLOW: 4408, TOO_MANY: 4409, FLOODING: 4429};

/** Milliseconds until the next try, after so many in a row have failed, the last one with `code`. */
function waitAfter(failures, code) {
  const longest = Math.min(LONGEST_BACKOFF_MS$1, 500 * 2 ** Math.min(failures - 1, 10));
  const isOurFault = [CLOSE.FLOODING, CLOSE.SLOW, CLOSE.FORBIDDEN].includes(code);
  // With jitter: after a restart of the server, clients do not all reconnect at once.
  return (isOurFault ? FLOODING_MS : 0) + longest * (0.5 + Math.random() / 2);
}

/**
 * Asks by HTTP whether the server answers. Browsers delay a socket to a server where others have failed (Firefox for up
 * to a minute, one after the other). So after a failure, no socket is opened that would fail.
 */
class Probe {
  #running = null;

  get isRunning() {
    return this.#running !== null;
  }

  /** Resolves to whether there is an answer; to null when it was stopped. */
  async ask(baseUrl) {
    const controller = new AbortController();
    this.#running = controller;
    const timer = setTimeout(() => controller.abort(), PROBE_MS);
    // The status of another origin cannot be read (it is 0), but any answer counts.
    /** @type {RequestInit} */
    const options = { mode: "no-cors", cache: "no-store", credentials: "omit", signal: controller.signal };
    const isAnswered = await fetch(`${baseUrl}/healthz`, options).then(
      ({ status }) => status < 500,
      () => false,
    );
    clearTimeout(timer);
    if (this.#running !== controller) return null;
    this.#running = null;
    return isAnswered;
  }

  stop() {
    const controller = this.#running;
    this.#running = null;
    controller?.abort();
  }
}

const TRIES = 6;
const WAIT_MS = 10_000;
const LEAVE_TRIES = 30;
const PAUSE_MS = 300;
// The wait between two tries of a command that is refused while a former socket counts as open.
const CONFLICT_PAUSE_MS = 1_000;
const BIND_TRIES = 60;
const AFTER_EXPIRY_MS = 8_000;

/** Loaded with the first call: most pages never have one. */
const loadModules = () =>
  Promise.all([importAgain("link.js", () => import('./link.js')), importAgain("media.js", () => import('./media.js'))]);

/** Errors that may not occur on another device of the user. */
const isAboutDevices = ({ code = "" }) =>
  code.startsWith("devices_") || ["microphone_denied", "calls_unsupported"].includes(code);

/** Sends a command of a call until it is answered; repeating one changes nothing. */
function ask(parley, call, type, data) {
  return persist(parley, call, () => parley.command(type, call.id === null ? data : { call_id: call.id, ...data }));
}

/** The ICE servers of a call. */
async function routeOf(parley, call) {
  const { ok, ...route } = await persist(parley, call, () => parley.calls.iceServers({ call_id: call.id }));
  return route;
}

/** Tries again while the server cannot be reached: it may be restarting. */
async function persist(parley, call, work) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      return await work();
    } catch (error) {
      if (error.status !== 0 || attempt >= TRIES || !call.isLive) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Sends a command of a bound device. After a kill of the server, the device's former socket counts as open for some
 * seconds: the command is refused until then.
 */
async function askBound(parley, call, type, data = {}) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(parley, call, type, data);
    } catch (error) {
      if (error.code !== "call_conflict" || attempt >= BIND_TRIES || !call.isLive) throw error;
      await sleep(CONFLICT_PAUSE_MS);
    }
  }
}

/** Reports to the server that this participant has left; retries if necessary. */
async function leave(parley, callId, type, data) {
  let command = type;
  for (let attempt = 1; attempt <= LEAVE_TRIES; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      await parley.command(command, { call_id: callId, ...data });
      return;
    } catch (error) {
      if (error.code === "call_conflict") {
        // Another device has answered, or the call is over.
        if (command === "call.decline" || (await hasEnded(parley, callId))) return;
        // It was answered at the same moment.
        if (command === "call.cancel") command = "call.hangup";
        // For some seconds the server still counts this device's former socket as open.
        else await sleep(CONFLICT_PAUSE_MS);
      } else if (error.status !== 0) return;
      else await sleep(PAUSE_MS);
    }
  }
}

/** The newest call of the user, once the server can be reached again; undefined when that takes too long. */
async function newestCall(parley) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      return (await parley.calls.list({ limit: 1 })).calls[0];
    } catch (error) {
      if (!error.isTemporary || attempt >= TRIES) return undefined;
      await sleep(PAUSE_MS);
    }
  }
}

async function hasEnded(parley, callId) {
  try {
    return (await parley.calls.get({ call_id: callId })).call.state === "ended";
  } catch (error) {
    return !error.isTemporary;
  }
}

/** Ends the ringing at the call's deadline, even if the event of its end does not arrive. Returns the timer. */
function watchExpiry(parley, call, row) {
  const wait = Date.parse(row.expires_at) - parley.now() + AFTER_EXPIRY_MS;
  return setTimeout(
    async () => {
      try {
        call.update((await parley.calls.get({ call_id: row.id })).call);
      } catch {
        call.finish("missed", "missed");
      }
    },
    Math.max(1000, wait),
  );
}

/** One call as this tab sees it: from the first ring to the reason of its end. */
class Call extends Emitter {
  #parley;
  #calls;
  #tools;
  #row = null;
  #local = null;
  #link = null;
  #CallLink = null;
  #route = null;
  // This tab is accepting, or continuing after a reload, so the call was not taken by another device.
  #isJoining = false;
  #isFresh = false;
  #endedAt = null;
  #expiryTimer = null;
  #clientId = randomId();

  constructor(parley, calls, tools, { conversation_id, media, row = null }) {
    super();
    this.#parley = parley;
    this.#calls = calls;
    this.#tools = tools;
    this.conversation_id = conversation_id;
    this.media = media;
    this.state = "starting";
    this.outcome = null;
    this.endReason = null;
    this.error = null;
    this.peerRinging = false;
    this.isInvited = false;
    /** The media that the other participant sends, according to them. */
    this.remote = { audio: true, video: media === "video", screen: false };
    this.remoteStream = typeof MediaStream === "function" ? new MediaStream() : null;
    if (row) this.update(row);
  }

  // --- What an app shows -------------------------------------------------------------------------

  get id() {
    return this.#row?.id ?? null;
  }
  get caller_id() {
    return this.#row?.caller_id ?? this.#parley.session.userId;
  }

  get direction() {
    return this.caller_id === this.#parley.session.userId ? "outgoing" : "incoming";
  }

  get isLive() {
    return this.state !== "ended";
  }

  /** Milliseconds by the server's clock. */
  get answeredAt() {
    return this.#row?.answered_at ? Date.parse(this.#row.answered_at) : null;
  }

  /** Seconds since the answer. */
  get duration() {
    if (this.answeredAt === null) return 0;
    if (this.#row.duration_s !== null) return this.#row.duration_s;
    return Math.max(0, Math.floor(((this.#endedAt ?? this.#parley.now()) - this.answeredAt) / 1000));
  }

  get localStream() {
    return this.#local?.stream ?? null;
  }
  get muted() {
    return Boolean(this.#local?.isMuted);
  }
  get cameraOn() {
    return Boolean(this.#local?.isCameraOn);
  }
  get sharing() {
    return Boolean(this.#local?.isSharing);
  }

  /** Why there is no camera: "denied", "missing", "failed", or null. */
  get cameraError() {
    return this.#local?.cameraError ?? null;
  }

  /** Why there is no microphone any more, with the same values: it was unplugged, and there is no other one. */
  get microphoneError() {
    return this.#local?.microphoneError ?? null;
  }

  /** Microphones that have come since the call began: `[{deviceId, label}]`, each to be taken with `setDevice`. */
  get offeredMicrophones() {
    return this.#local?.offered ?? [];
  }

  get mediaConnected() {
    return this.#link?.isConnected ?? false;
  }

  /** Media has flowed before but does not flow now. */
  get reconnecting() {
    return this.isLive && (this.#link?.isReconnecting ?? false);
  }

  get stats() {
    return this.#link?.stats ?? null;
  }
  get quality() {
    return this.#link?.quality ?? null;
  }

  /** The current RTCPeerConnection. */
  get peer() {
    return this.#link?.connection ?? null;
  }

  // --- Actions of the user -----------------------------------------------------------------------

  async accept({ camera = this.media === "video" } = {}) {
    if (this.state !== "ringing" || this.direction !== "incoming" || this.#isJoining) return;
    this.#isJoining = true;
    this.error = null;
    try {
      await this.#open(camera);
      if (!this.isLive) return;
      const { call, ...route } = await this.#command("call.accept");
      this.#route = route;
      this.update(call);
      // The user declined meanwhile, too late for the server.
      if (!this.isLive) await leave(this.#parley, call.id, "call.hangup", {});
    } catch (error) {
      this.error = error;
      // Without a microphone the call continues to ring, so that the user can allow it or decline.
      if (error.code === "call_conflict") this.finish("answered_elsewhere");
      else if (!isAboutDevices(error)) this.finish(error.code, "failed");
      this.emit("change", this);
      throw error;
    } finally {
      this.#isJoining = false;
    }
  }

  decline(reason = "declined") {
    return this.#leave("call.decline", reason, { reason });
  }

  cancel() {
    return this.#leave("call.cancel", "canceled");
  }

  hangup() {
    return this.#leave("call.hangup", "completed");
  }

  /** Declines, cancels or hangs up, whichever fits. */
  end() {
    if (this.state === "connecting" || this.state === "active") return this.hangup();
    return this.direction === "incoming" ? this.decline() : this.cancel();
  }

  setMuted(isMuted) {
    this.#local?.setMuted(isMuted);
    return this.#mediaChanged();
  }

  setCamera(isOn) {
    return this.#withMedia(() => this.#local?.setCamera(isOn));
  }

  setSharing(isOn) {
    return this.#withMedia(() => this.#local?.setSharing(isOn));
  }

  setDevice(choice) {
    return this.#withMedia(() => this.#local?.setDevice(choice));
  }

  switchCamera() {
    return this.#withMedia(() => this.#local?.switchCamera());
  }

  // --- Called by the manager of calls --------------------------------------------------------------

  /** Rings the other participant once `former`, an earlier invitation, is settled. Never rejects: see `error` and `endReason`. */
  async start(former) {
    try {
      await this.#open(this.media === "video");
      await former;
      const data = { conversation_id: this.conversation_id, media: this.media, client_id: this.#clientId };
      if (!this.isLive) return;
      this.isInvited = true;
      const { call, ...route } = await this.#command("call.invite", data);
      this.#route = route;
      if (this.isLive) {
        this.update(call);
        return;
      }
      // The user canceled during the invitation.
      this.#calls.over(call.id);
      await leave(this.#parley, call.id, "call.cancel", {});
    } catch (error) {
      this.error = error;
      this.finish(error.code ?? "failed", "failed");
    }
  }

  /** After a reload of the page: continues the call with a new connection, even if the server restarts meanwhile. */
  async rejoin() {
    this.#isJoining = true;
    this.#isFresh = this.state !== "ringing";
    try {
      await this.#open(this.media === "video");
      this.#route = await routeOf(this.#parley, this);
      // A ringing call connects when it is accepted, which may have happened by now.
      if (this.#isFresh) this.update((await askBound(this.#parley, this, "call.connected")).call);
      else this.#connect();
    } catch (error) {
      this.error = error;
      this.finish(error.code ?? "failed", "failed");
      // The other participant need not wait for a connection that cannot come.
      if (isAboutDevices(error)) await leave(this.#parley, this.id, "call.hangup", {});
    } finally {
      this.#isJoining = false;
    }
  }

  update(row) {
    this.#row = row;
    this.media = row.media;
    clearTimeout(this.#expiryTimer);
    if (row.state === "ringing") this.#expiryTimer = watchExpiry(this.#parley, this, row);
    if (row.state === "ended") {
      this.outcome = row.outcome;
      this.finish(row.outcome, row.outcome);
      return;
    }
    if (!this.isLive) return;
    const isTaken = row.state !== "ringing" && !row.bound_to_you;
    if (isTaken && this.direction === "incoming" && !this.#isJoining && !this.#link) {
      this.finish("answered_elsewhere");
      return;
    }
    this.state = row.state;
    this.#connect();
    this.emit("change", this);
  }

  /** The socket has reconnected: recovers from lost events. */
  resumed() {
    this.#link?.resumed();
  }

  onSignal(kind, payload) {
    if (kind === "media") {
      this.remote = { ...this.remote, ...payload };
      this.emit("change", this);
    } else this.#link?.onSignal(kind, payload);
  }

  /** Ends the call in this tab; the first reason counts. */
  finish(reason, outcome = null) {
    this.outcome ??= outcome;
    if (!this.isLive) {
      this.emit("change", this);
      return;
    }
    this.state = "ended";
    this.endReason = reason;
    this.#endedAt = this.#parley.now();
    clearTimeout(this.#expiryTimer);
    this.#link?.close();
    this.#local?.close();
    this.emit("change", this);
    this.emit("ended", this);
    this.#calls.ended(this);
  }

  // --- Inside ----------------------------------------------------------------------------------------

  async #open(camera) {
    this.#calls.requireSupport();
    const [{ CallLink }, { LocalMedia }] = await loadModules();
    // If the call has ended meanwhile, the user is not asked for a microphone.
    if (!this.isLive) return;
    this.#CallLink = CallLink;
    this.#local ??= new LocalMedia(this.#tools.mediaDevices, () => this.#mediaChanged());
    await this.#local.open({ camera });
    this.emit("change", this);
  }

  #connect() {
    const isTalking = this.state === "connecting" || this.state === "active";
    if (!isTalking || !this.#row.bound_to_you || !this.#route || this.#link) return;
    this.#link = new this.#CallLink(this.#parley, {
      call: this,
      route: this.#route,
      local: this.#local,
      RTCPeerConnection: this.#tools.RTCPeerConnection,
      isCaller: this.direction === "outgoing",
      isFresh: this.#isFresh,
    });
    this.#link.start();
  }

  async #withMedia(change) {
    try {
      await change();
    } finally {
      await this.#mediaChanged();
    }
  }

  async #mediaChanged() {
    await this.#link?.mediaChanged();
    this.emit("change", this);
  }

  #command(type, data = {}) {
    return ask(this.#parley, this, type, data);
  }

  /** Ends the call locally at once and reports it to the server, with retries if necessary. */
  async #leave(type, outcome, data = {}) {
    if (!this.isLive) return;
    this.finish(outcome, outcome);
    if (this.id !== null) await leave(this.#parley, this.id, type, data);
  }
}

const FOLLOWS_UP_MS = 500;
const REJOIN_TRIES = 40;

/** The calls of this tab: at most one at a time. */
class Calls {
  #parley;
  #tools;
  // An incoming call that arrived during an invitation of our own.
  #held = null;
  // Settles when the server has answered the latest invitation and, if it was canceled before that, withdrawn it.
  #invited = Promise.resolve();
  // The newest ended call of this tab, whose late events must not affect the next call.
  #lastId = 0;

  constructor(parley, tools) {
    this.#parley = parley;
    this.#tools = tools;
    /** The ringing or running call of this tab, or null. */
    this.current = null;
    parley.on("call.updated", ({ call }) => call && this.#update(call));
    parley.on("call.signal", ({ call_id, kind, payload }) => this.#currentIf(call_id)?.onSignal(kind, payload));
    parley.on("call.ringing", ({ call_id }) => this.#peerRings(call_id));
    parley.on("ready", ({ calls }) => this.#ready(calls));
    parley.on("signedout", () => this.current?.finish("signed_out"));
  }

  /** Rings the other participant of a conversation. Returns the call at once, in the state "starting". */
  invite({ conversation_id, media = "audio" }) {
    if (this.current) throw new ParleyError("call_conflict", { message: "There is a call already.", status: 409 });
    this.requireSupport();
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media });
    this.#show(call);
    this.#invited = call.start(this.#invited).then(() => this.#withdraw(call));
    return call;
  }

  /** Whether this browser, on this page, can hold a call. */
  get isSupported() {
    const { RTCPeerConnection, mediaDevices } = this.#tools;
    return [RTCPeerConnection, globalThis.MediaStream, mediaDevices?.getUserMedia].every(
      (part) => typeof part === "function",
    );
  }

  /** Throws ParleyError `calls_unsupported`. */
  requireSupport() {
    if (this.isSupported) return;
    throw new ParleyError("calls_unsupported", {
      message: "Calls need WebRTC, a microphone and a page that was loaded by https.",
    });
  }

  /** The devices to choose from; they have names once the user has allowed one. */
  async devices() {
    const all = (await this.#tools.mediaDevices?.enumerateDevices()) ?? [];
    const of = (kind) => all.filter((row) => row.kind === kind).map(({ deviceId, label }) => ({ deviceId, label }));
    return { audio: of("audioinput"), video: of("videoinput"), output: of("audiooutput") };
  }

  /** Resolves when the socket is online; rejects after a time-out. */
  whenOnline(ms) {
    if (this.#parley.status === "online") return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        off();
        reject(new ParleyError("network_error", { message: "The server cannot be reached." }));
      }, ms);
      const off = this.#parley.on("ready", () => {
        clearTimeout(timer);
        off();
        resolve();
      });
    });
  }

  /** Called by the call itself. */
  ended(call) {
    this.over(call.id);
    if (this.current !== call) return;
    this.current = null;
    this.#mark(null);
    const held = this.#held;
    this.#held = null;
    if (held && held.id !== call.id) this.#update(held);
  }

  /** Called by the call itself, even if it learns its id only after its end. */
  over(callId) {
    this.#lastId = Math.max(this.#lastId, callId);
  }

  close() {
    this.current?.end();
  }

  #currentIf(callId) {
    return this.current?.id === callId ? this.current : null;
  }

  #show(call) {
    this.current = call;
    call.on("change", () => {
      if (call.id !== null && isOfOneDevice(call)) this.#mark(call.id);
    });
    this.#parley.emit("call", { call });
  }

  #update(row) {
    const isMine = this.#isMine(row);
    const { current } = this;
    if (current?.id === row.id) current.update(row);
    else if (current?.id === null && this.#answersOurs(current, row)) current.update(row);
    else if (row.state === "ringing" && !isMine) {
      if (current) this.#held = row;
      else this.#ring(row);
    } else if (this.#held?.id === row.id) this.#held = null;
  }

  /** Cancels the call of an invitation that ended here without an answer of the server, because it may be ringing. */
  async #withdraw(call) {
    if (call.id !== null || !call.isInvited || !call.error?.isTemporary) return;
    const row = await newestCall(this.#parley);
    if (!row || row.state === "ended" || !this.#answersOurs(call, row)) return;
    this.over(row.id);
    await leave(this.#parley, row.id, "call.cancel", {});
  }

  #isMine(row) {
    return row.caller_id === this.#parley.session.userId;
  }

  /** Whether this call is that of our unanswered invitation. */
  #answersOurs(current, row) {
    if (!current.isInvited || row.id <= this.#lastId) return false;
    if (row.conversation_id !== current.conversation_id || !row.bound_to_you) return false;
    return this.#isMine(row) || row.state === "connecting";
  }

  #ring(row) {
    const { conversation_id, media } = row;
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media, row });
    this.#show(call);
    this.#parley.emit("call.incoming", { call });
    this.#parley.command("call.ringing", { call_id: row.id }).catch(() => {});
  }

  #peerRings(callId) {
    const call = this.#currentIf(callId);
    if (!call) return;
    call.peerRinging = true;
    call.emit("change", call);
  }

  #ready(rows) {
    const { current } = this;
    // It may have ended while the socket was offline.
    if (!rows.some(({ id }) => id === this.#held?.id)) this.#held = null;
    for (const row of rows) {
      this.#update(row);
      if (!this.current && row.id === this.#marked) this.#rejoin(row);
    }
    if (!current?.isLive || current.id === null) return;
    if (rows.some(({ id }) => id === current.id)) current.resumed();
    else this.#lookUp(current);
  }

  /** Reads the call after a reconnect: it may have been answered elsewhere, or have ended. */
  async #lookUp(call) {
    try {
      const reply = await this.#parley.calls.get({ call_id: call.id });
      call.update(reply.call);
    } catch (error) {
      if (error.status === 404) call.finish("lost", "lost");
    }
  }

  /** The page was reloaded during a call. */
  #rejoin(row, attempt = 1) {
    const isOurs = row.bound_to_you || row.state === "ringing";
    if (!isOurs && attempt <= REJOIN_TRIES) {
      // The server may not have noticed yet that the former page's socket closed.
      const again = () => this.#parley.command("call.connected", { call_id: row.id });
      setTimeout(() => {
        again().then(
          ({ call }) => this.#rejoin(call, attempt + 1),
          ({ code }) => code === "call_conflict" && this.#rejoin(row, attempt + 1),
        );
      }, FOLLOWS_UP_MS);
      return;
    }
    if (!isOurs || row.state === "ended" || this.current) return;
    const { conversation_id, media } = row;
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media, row });
    this.#show(call);
    call.rejoin();
  }

  // A mark of this tab that outlives a reload, so that another tab does not take the call.
  get #markKey() {
    return `${this.#parley.name}.call`;
  }

  get #marked() {
    return Number(tabStorage().getItem(this.#markKey)) || null;
  }

  #mark(callId) {
    if (callId === null) tabStorage().removeItem(this.#markKey);
    else tabStorage().setItem(this.#markKey, callId);
  }
}

/** If the browser has no storage, a reload only ends the media of a call. */
const tabStorage = () => browserStorage("sessionStorage");

/** An incoming call that still rings belongs to all devices of its user. */
function isOfOneDevice({ state, direction }) {
  return state === "connecting" || state === "active" || (state === "ringing" && direction === "outgoing");
}

// `Date` has whole seconds, and some servers update it once a second, so the true time is up to this much later.
const GRAIN_MS = 2_000;

/** The server's clock, estimated from the `Date` header of replies, because the device's own may be wrong by hours. */
class Clock {
  // The range of possible offsets, by all replies so far.
  #least = -Infinity;
  #most = Infinity;

  now() {
    return Date.now() + this.offset;
  }

  /** Milliseconds that the device's clock is behind the server's; 0 as long as that may be true. */
  get offset() {
    if (this.#least <= 0 && this.#most >= 0) return 0;
    return (this.#least + this.#most) / 2;
  }

  /** `sent` is when the request left, by the device's clock. */
  observe(date, sent) {
    const serverTime = Date.parse(date ?? "");
    if (Number.isNaN(serverTime)) return;
    const least = serverTime - Date.now();
    const most = serverTime + GRAIN_MS - sent;
    const isPossible = Math.max(least, this.#least) <= Math.min(most, this.#most);
    // One of the two clocks was set meanwhile: start again.
    this.#least = isPossible ? Math.max(least, this.#least) : least;
    this.#most = isPossible ? Math.min(most, this.#most) : most;
  }
}

const STORE = "files";

/**
 * The unsent messages of this browser, separately for each user: entries in the storage of the sign-in, and the files
 * of image messages in IndexedDB. Tabs that share the storage share both.
 */
class StoredMessages {
  #parley;
  #storage;
  #tabs;
  #database = null;

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#storage = storage;
    this.#tabs = tabs;
    this.prefix = `${parley.name}.outbox.`;
    this.keepsFiles = tabs.isShared && hasDatabases();
    this.#sweep();
  }

  /** The messages of the signed-in user. */
  rows() {
    const keys = this.#keys(`${this.prefix}${this.#parley.session.userId}.`);
    return keys.map((key) => JSON.parse(this.#storage.getItem(key) ?? "null")).filter(Boolean);
  }

  get(clientId) {
    return JSON.parse(this.#storage.getItem(this.#key(clientId)) ?? "null");
  }

  set(row) {
    this.#storage.setItem(this.#key(row.client_id), JSON.stringify({ ...row, tab: this.#tabs.id }));
  }

  /** Calls `act` when a tab has closed whose messages are still here. */
  inherit(act) {
    for (const { tab } of this.rows()) this.#tabs.whenGone(tab, act);
  }

  delete({ client_id, has_file }) {
    const key = this.#key(client_id);
    this.#storage.removeItem(key);
    if (has_file && this.keepsFiles) this.#files("readwrite", (files) => files.delete(key)).catch(() => {});
  }

  /** Removes the messages of all users. */
  clear() {
    for (const key of this.#keys(this.prefix)) this.#storage.removeItem(key);
    this.#sweep();
  }

  /** Undefined when the file is lost, null when it cannot be read now. */
  fileOf(clientId) {
    if (!this.keepsFiles) return undefined;
    return this.#files("readonly", (files) => files.get(this.#key(clientId))).catch(() => null);
  }

  /**
   * Stores a file, then calls `then`, which stores the message: a tab that sees the message can send it. Without room
   * for the file, nothing happens.
   */
  async keepFile(clientId, file, then) {
    if (!this.keepsFiles) return;
    const key = this.#key(clientId);
    const work = async () => {
      await this.#files("readwrite", (files) => files.put(file, key));
      then();
      if (this.#storage.getItem(key) === null) await this.#files("readwrite", (files) => files.delete(key));
    };
    await this.#tabs.lock("files", work).catch(() => {});
  }

  /** Removes files without a message: their tab was closed too early, or their user has signed out. */
  #sweep() {
    if (!this.keepsFiles) return;
    const work = async () => {
      for (const key of await this.#files("readonly", (files) => files.getAllKeys())) {
        if (this.#storage.getItem(key) === null) await this.#files("readwrite", (files) => files.delete(key));
      }
    };
    this.#tabs.lock("files", work).catch(() => {});
  }

  #key(clientId) {
    // Each has its own key, so that two tabs do not overwrite each other.
    return `${this.prefix}${this.#parley.session.userId}.${clientId}`;
  }

  #keys(prefix) {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index));
    return keys.filter((key) => key?.startsWith(prefix));
  }

  async #files(mode, act) {
    this.#database ??= openDatabase(`${this.#parley.name}.outbox`, STORE);
    const transaction = (await this.#database).transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  }
}

const LONGEST_BACKOFF_MS = 30_000;
// How often a message is sent again after a server error before it counts as failed.
const SERVER_ERRORS = 8;

/**
 * Messages that wait for the server. Each has a `client_id`, so that sending one again after a lost
 * reply does not double it. Of one conversation they go out in order, from one tab at a time.
 */
class Outbox {
  #parley;
  #tabs;
  #stored;
  // Kept in this tab only: files, progress, errors of the last try, and messages that are not stored.
  #here = new Map();
  #running = new Map();
  #timer = null;
  #wakesAt = Infinity;
  #failures = 0;
  #count = 0;

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#tabs = tabs;
    this.#stored = new StoredMessages(parley, storage, tabs);
    tabs.on(({ type, key }) => {
      const isMine = type === "outbox" || (type === "storage" && key?.startsWith(this.#stored.prefix));
      if (isMine) this.#changed();
    });
    parley.on("ready", () => this.flush());
    parley.on("signedin", () => this.#changed());
    parley.on("message.new", ({ message }) => this.#arrived(message));
    parley.on("signedout", ({ forget }) => this.#forget(forget));
    this.#loadFiles();
  }

  /** Puts a text message into the queue and sends it as soon as possible. */
  send({ conversation_id, body, reply_to_id = null }) {
    return this.#add({ conversation_id, body, reply_to_id });
  }

  /** Queues an image message. It waits in this tab only if the browser cannot keep its file over a reload. */
  sendImage({ conversation_id, file, body = "", reply_to_id = null }) {
    return this.#add({ conversation_id, body, reply_to_id }, file);
  }

  /** The waiting messages, oldest first. */
  items(conversationId = null) {
    const rows = [...[...this.#here.values()].map(({ row }) => row).filter(Boolean), ...this.#stored.rows()];
    const mine = rows.filter((row) => conversationId === null || row.conversation_id === conversationId);
    mine.sort((one, other) => one.order - other.order || (one.client_id < other.client_id ? -1 : 1));
    return mine.map((row) => this.#shown(row));
  }

  retry(clientId) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#at(clientId).serverErrors = 0;
    this.#save({ ...row, error: null });
    this.#emitItems();
    this.flush();
  }

  remove(clientId) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#here.get(clientId)?.abort?.abort();
    this.#delete(row);
    this.#emitItems();
  }

  /** Sends all messages that can be sent now. Called automatically when the connection comes back. */
  flush() {
    const waiting = this.items().filter(({ state }) => state !== "failed");
    for (const conversationId of new Set(waiting.map((item) => item.conversation_id))) {
      if (this.#running.has(conversationId)) continue;
      const work = this.#tabs.lock(`outbox.${conversationId}`, () => this.#sendAll(conversationId), SENDING_MS);
      this.#running.set(conversationId, work);
      work.finally(() => {
        this.#running.delete(conversationId);
        const next = this.#next(conversationId);
        if (!next) return;
        if (this.#isPaused(conversationId)) this.#wakeAt(this.#here.get(next.client_id).retryAt);
        // A message may have been added since the last check.
        else this.flush();
      });
    }
  }

  close() {
    clearTimeout(this.#timer);
  }

  // --- Sending ---------------------------------------------------------------------------------

  async #sendAll(conversationId) {
    for (let row = this.#next(conversationId); row; row = this.#next(conversationId)) {
      if (this.#isPaused(conversationId) || !this.#parley.session.isSignedIn) return;
      if (!(await this.#sendOne(row))) return;
    }
  }

  /** Whether the next message may be sent. */
  async #sendOne(row) {
    const here = this.#at(row.client_id);
    here.isSending = true;
    here.abort = new AbortController();
    this.#emitItems(false);
    try {
      const { message } = await this.#request(row, here);
      this.#failures = 0;
      this.#sent(row.client_id, message);
      return true;
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return this.#failed(row, here, error);
    } finally {
      here.isSending = false;
      this.#emitItems();
    }
  }

  async #request({ conversation_id, body, reply_to_id, client_id, has_file }, here) {
    const { signal } = here.abort;
    const params = { conversation_id, body, client_id, ...(reply_to_id ? { reply_to_id } : {}) };
    // A file that cannot be read now is tried again. Without its file a message is lost.
    if (has_file && !(await this.#fileOf(client_id)))
      throw new ParleyError(this.#row(client_id) ? "file_unreadable" : "aborted");
    if (!has_file) return this.#parley.rest.call("messages_send", params, { signal });
    const onProgress = (loaded, total) => {
      here.progress = total ? loaded / total : 0;
      this.#emitItems(false);
    };
    return this.#parley.rest.call("messages_send_image", { ...params, file: here.file }, { signal, onProgress });
  }

  #failed(row, here, error) {
    if (error.code === "aborted") return true;
    if (!this.#row(row.client_id) || !this.#parley.session.isSignedIn) return false;
    here.serverErrors = (here.serverErrors ?? 0) + (error.status === 500 ? 1 : 0);
    if (!error.isTemporary || here.serverErrors >= SERVER_ERRORS) {
      this.#save({
        ...this.#row(row.client_id),
        error: { code: error.code, message: error.message, status: error.status },
      });
      this.#parley.emit("outbox.failed", { client_id: row.client_id, conversation_id: row.conversation_id, error });
      return true;
    }
    this.#failures += 1;
    const backoff = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** Math.min(this.#failures - 1, 8));
    const wait = error.retryAfter ? error.retryAfter * 1000 + 100 : backoff * (0.5 + Math.random() / 2);
    // After a refused connection the socket triggers the next try; a rate limit says when to try again.
    here.retryAt = Date.now() + wait;
    here.isHeldByServer = error.status !== 0;
    return false;
  }

  /** Timers may fire a moment early, so a conversation that is still paused waits again. */
  #wakeAt(time) {
    if (time >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = time;
    this.#timer = setTimeout(
      () => {
        this.#wakesAt = Infinity;
        this.flush();
      },
      Math.max(1, Math.ceil(time - Date.now())),
    );
  }

  #arrived(message) {
    if (message.client_id && message.sender_id === this.#parley.session.userId) this.#sent(message.client_id, message);
  }

  /** Reported by the reply and by the event; the first one counts. */
  #sent(clientId, message) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#delete(row);
    this.#parley.emit("outbox.sent", { client_id: clientId, message });
    this.#emitItems();
  }

  // --- Rows ------------------------------------------------------------------------------------

  #add({ conversation_id, body, reply_to_id }, file = null) {
    this.#count += 1;
    const now = this.#parley.now();
    const row = {
      client_id: randomId(),
      conversation_id,
      body,
      reply_to_id,
      created_at: new Date(now).toISOString(),
      order: now + (this.#count % 1000) / 1000,
      error: null,
      has_file: file !== null,
    };
    if (file) this.#here.set(row.client_id, { row, file, progress: 0 });
    else this.#save(row);
    if (file) this.#keepFile(row.client_id, file);
    this.#emitItems();
    this.flush();
    return this.#shown(row);
  }

  /** @returns {any} An OutboxItem (parley.d.ts). */
  #shown(/** @type {any} */ { order, error, has_file, tab, ...row }) {
    const here = this.#here.get(row.client_id) ?? {};
    const state = error ? "failed" : here.isSending ? "sending" : "waiting";
    const retryAt = here.retryAt > Date.now() && !error ? here.retryAt : null;
    return { ...row, state, error, retryAt, file: here.file ?? null, progress: here.progress ?? 0 };
  }

  #next(conversationId) {
    const item = this.items(conversationId).find(({ state }) => state !== "failed");
    return item ? this.#row(item.client_id) : null;
  }

  #isPaused(conversationId) {
    const next = this.#next(conversationId);
    const here = next && this.#here.get(next.client_id);
    if (!here?.retryAt || here.retryAt <= Date.now()) return false;
    return here.isHeldByServer || this.#parley.status !== "online";
  }

  #at(clientId) {
    if (!this.#here.has(clientId)) this.#here.set(clientId, {});
    return this.#here.get(clientId);
  }

  #row(clientId) {
    return this.#here.get(clientId)?.row ?? this.#stored.get(clientId);
  }

  #save(row) {
    const here = this.#here.get(row.client_id);
    if (here) here.retryAt = null;
    if (here?.row) here.row = row;
    else this.#stored.set(row);
  }

  #delete(row) {
    this.#here.delete(row.client_id);
    this.#stored.delete(row);
  }

  // --- Files -----------------------------------------------------------------------------------

  #keepFile(clientId, file) {
    this.#stored.keepFile(clientId, file, () => {
      const here = this.#here.get(clientId);
      // Sent, removed or signed out meanwhile.
      if (!here?.row) return;
      this.#stored.set(here.row);
      here.row = null;
      this.#emitItems();
    });
  }

  async #fileOf(clientId) {
    const here = this.#at(clientId);
    here.file ??= await this.#stored.fileOf(clientId);
    const row = this.#row(clientId);
    if (row && here.file === undefined) this.#delete(row);
    return here.file;
  }

  /** The previews of images that have waited since before a reload, or in another tab. */
  async #loadFiles() {
    for (const { client_id } of this.items().filter(({ file }) => !file)) {
      if (!this.#row(client_id)?.has_file) continue;
      await this.#fileOf(client_id);
      this.#emitItems(false);
    }
  }

  // --- Other tabs and users --------------------------------------------------------------------

  #changed() {
    // An upload that was cancelled in another tab.
    for (const [clientId, { file, abort }] of this.#here) if (file && !this.#row(clientId)) abort?.abort();
    this.#emitItems(false);
    this.#loadFiles();
    this.#stored.inherit(() => this.flush());
  }

  /** The user has signed out, so nothing unsent stays on this device. After an expiry it waits for the same user. */
  #forget(isEnded) {
    for (const { abort } of this.#here.values()) abort?.abort();
    this.#here.clear();
    if (isEnded) this.#stored.clear();
    this.#emitItems(false);
  }

  #emitItems(alsoOtherTabs = true) {
    if (alsoOtherTabs) this.#tabs.post({ type: "outbox" });
    this.#parley.emit("outbox", { items: this.items() });
  }
}

const MOST_WATCHED = 100;
const TYPING_AGAIN_MS = 4_000;
const TYPING_SILENCE_MS = 5_000;
const TYPING_EXPIRES_MS = 6_000;

/** Online status of the users that any part of the app watches; requested again after each reconnect. */
class Presence {
  #parley;
  #watchers = new Set();
  #known = new Map();
  #timer = null;

  constructor(parley) {
    this.#parley = parley;
    parley.on("presence", (data) => this.#learn(data));
    parley.on("ready", () => this.#ask());
    parley.on("signedout", () => this.#known.clear());
  }

  /** `{user_id, online, last_seen_at}`, or undefined when it is not known or hidden. */
  get(userId) {
    return this.#known.get(userId);
  }

  /** Returns the function that stops watching. */
  watch(userIds, handler = null) {
    const watcher = { userIds: new Set(userIds), handler };
    this.#watchers.add(watcher);
    this.#askSoon();
    return () => {
      this.#watchers.delete(watcher);
      this.#askSoon();
    };
  }

  #askSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), 50);
  }

  async #ask() {
    const watched = new Set([...this.#watchers].flatMap(({ userIds }) => [...userIds]));
    for (const userId of this.#known.keys()) if (!watched.has(userId)) this.#known.delete(userId);
    if (this.#parley.status !== "online") return;
    try {
      const user_ids = [...watched].slice(-MOST_WATCHED);
      const { presence } = await this.#parley.command("presence.watch", { user_ids });
      for (const row of presence) this.#parley.emit("presence", row);
      // The user is hidden or blocked now.
      const shown = new Set(presence.map((row) => row.user_id));
      for (const user_id of user_ids) {
        if (this.#known.has(user_id) && !shown.has(user_id))
          this.#parley.emit("presence", { user_id, online: false, last_seen_at: null });
      }
    } catch {
      // Requested again with the next `ready`.
    }
  }

  #learn(data) {
    this.#known.set(data.user_id, data);
    for (const { userIds, handler } of [...this.#watchers]) if (userIds.has(data.user_id)) handler?.(data);
  }
}

/** Typing notices: sent at most every four seconds, and ended when a peer falls silent. */
class Typing {
  #parley;
  #mine = new Map();
  #theirs = new Map();

  constructor(parley) {
    this.#parley = parley;
    parley.on("typing", (data) => this.#onTyping(data));
    parley.on("message.new", ({ message }) => this.#end(message.conversation_id, message.sender_id));
    parley.on("signedout", () => this.close());
  }

  note(conversationId, isTyping) {
    const mine = this.#mine.get(conversationId) ?? { sentAt: 0, timer: null };
    clearTimeout(mine.timer);
    if (!isTyping) {
      if (this.#mine.delete(conversationId)) this.#send(conversationId, false);
      return;
    }
    mine.timer = setTimeout(() => this.note(conversationId, false), TYPING_SILENCE_MS);
    this.#mine.set(conversationId, mine);
    if (Date.now() - mine.sentAt < TYPING_AGAIN_MS) return;
    mine.sentAt = Date.now();
    this.#send(conversationId, true);
  }

  close() {
    for (const { timer } of this.#mine.values()) clearTimeout(timer);
    for (const timer of this.#theirs.values()) clearTimeout(timer);
    this.#mine.clear();
    this.#theirs.clear();
  }

  #send(conversationId, isTyping) {
    if (this.#parley.status !== "online") return;
    this.#parley.command("typing", { conversation_id: conversationId, is_typing: isTyping }).catch((error) => {
      // A lost notice does not matter. A refusal may be the first sign of a block.
      if (error.code === "user_blocked")
        this.#parley.emit("typing.refused", { conversation_id: conversationId, error });
    });
  }

  #onTyping({ conversation_id, user_id, is_typing }) {
    const key = `${conversation_id} ${user_id}`;
    clearTimeout(this.#theirs.get(key));
    this.#theirs.delete(key);
    if (is_typing)
      this.#theirs.set(
        key,
        setTimeout(() => this.#end(conversation_id, user_id), TYPING_EXPIRES_MS),
      );
  }

  #end(conversation_id, user_id) {
    if (this.#theirs.has(`${conversation_id} ${user_id}`)) {
      this.#parley.emit("typing", { conversation_id, user_id, is_typing: false });
    }
  }
}

const CONVERSATIONS = 100;

/** Requests delivery receipts after a gap, because they are not durable events. */
class Receipts {
  #parley;
  // The latest by conversation, so that a late reply does not undo an event.
  #known = new Map();

  constructor(parley) {
    this.#parley = parley;
    parley.on("conversation.delivered", (data) => this.#learn(data));
    parley.on("synced", () => this.#ask());
    parley.on("signedout", () => this.#known.clear());
  }

  #learn({ conversation_id: id, user_id, delivered_id }) {
    if (user_id !== this.#parley.session.userId) this.#known.set(id, Math.max(this.#known.get(id) ?? 0, delivered_id));
  }

  async #ask() {
    const { userId } = this.#parley.session;
    try {
      const { conversations } = await this.#parley.messages.listConversations({ limit: CONVERSATIONS });
      if (this.#parley.session.userId !== userId) return;
      for (const { id: conversation_id, other_user, other_delivered_id: delivered_id } of conversations) {
        if (!delivered_id || delivered_id <= (this.#known.get(conversation_id) ?? 0)) continue;
        this.#parley.emit("conversation.delivered", { conversation_id, user_id: other_user.id, delivered_id });
      }
    } catch {
      // Requested again after the next gap.
    }
  }
}

// Written by `manage.py write_sdk` from docs/openapi.json.
// id: [method, path, query keys, body keys, {bearer, multipart, action}]
const OPERATIONS = {
  auth_action_challenge: ["POST", "/api/v1/auth/action-challenge", [], ["action", "current_password", "password", "new_password", "hint", "email"], {bearer: "bearer"}],
  auth_action_verify: ["POST", "/api/v1/auth/action-verify", [], ["challenge_token", "code"], {bearer: "bearer"}],
  auth_change_email: ["POST", "/api/v1/auth/change-email", [], ["email"], {bearer: "bearer", action: true}],
  auth_change_email_undo: ["POST", "/api/v1/auth/change-email/undo", [], ["token"], {}],
  auth_change_email_verify: ["POST", "/api/v1/auth/change-email/verify", [], ["code"], {bearer: "bearer"}],
  auth_change_password: ["POST", "/api/v1/auth/change-password", [], ["current_password", "new_password"], {bearer: "bearer", action: true}],
  auth_delete_account: ["POST", "/api/v1/auth/delete-account", [], [], {bearer: "bearer", action: true}],
  auth_devices_list: ["GET", "/api/v1/auth/devices", [], [], {bearer: "bearer"}],
  auth_devices_remove: ["DELETE", "/api/v1/auth/devices/{device_id}", [], [], {bearer: "bearer"}],
  auth_export: ["GET", "/api/v1/auth/export", [], [], {bearer: "bearer", action: true}],
  auth_forgot_password: ["POST", "/api/v1/auth/forgot-password", [], ["email"], {}],
  auth_identity_token: ["POST", "/api/v1/auth/identity-token", [], ["audience"], {bearer: "bearer"}],
  auth_login: ["POST", "/api/v1/auth/login", [], ["email", "password"], {}],
  auth_logout: ["POST", "/api/v1/auth/logout", [], [], {bearer: "bearer"}],
  auth_me: ["GET", "/api/v1/auth/me", [], [], {bearer: "bearer"}],
  auth_refresh: ["POST", "/api/v1/auth/refresh", [], [], {bearer: "bearer"}],
  auth_resend_otp: ["POST", "/api/v1/auth/resend-otp", [], ["email"], {}],
  auth_two_step_resend: ["POST", "/api/v1/auth/resend-two-step", [], [], {bearer: "two_step"}],
  auth_security_changes: ["GET", "/api/v1/auth/security-changes", [], [], {bearer: "bearer"}],
  auth_sessions_list: ["GET", "/api/v1/auth/sessions", [], [], {bearer: "bearer"}],
  auth_sessions_end: ["DELETE", "/api/v1/auth/sessions/{session_id}", [], [], {bearer: "bearer"}],
  auth_sessions_end_others: ["POST", "/api/v1/auth/sessions/revoke-others", [], [], {bearer: "bearer"}],
  auth_signup: ["POST", "/api/v1/auth/signup", [], ["first_name", "last_name", "email", "password", "language"], {}],
  auth_two_step: ["POST", "/api/v1/auth/two-step", [], ["password", "remember"], {bearer: "two_step"}],
  auth_two_step_change: ["POST", "/api/v1/auth/two-step/change", [], ["password", "new_password", "hint"], {bearer: "bearer", action: true}],
  auth_two_step_disable: ["POST", "/api/v1/auth/two-step/disable", [], ["password"], {bearer: "bearer", action: true}],
  auth_two_step_enable: ["POST", "/api/v1/auth/two-step/enable", [], ["password", "hint"], {bearer: "bearer", action: true}],
  auth_two_step_forgot: ["POST", "/api/v1/auth/two-step/forgot", [], ["recovery_code"], {bearer: "two_step"}],
  auth_two_step_recovery_codes: ["POST", "/api/v1/auth/two-step/recovery-codes", [], [], {bearer: "bearer", action: true}],
  auth_two_step_status: ["GET", "/api/v1/auth/two-step/status", [], [], {bearer: "bearer"}],
  auth_verify: ["POST", "/api/v1/auth/verify", [], ["email", "code"], {}],
  auth_verify_reset: ["POST", "/api/v1/auth/verify-reset", [], ["email", "code", "new_password"], {}],
  calls_list: ["GET", "/api/v1/calls", ["before", "limit"], [], {bearer: "bearer"}],
  calls_get: ["GET", "/api/v1/calls/{call_id}", [], [], {bearer: "bearer"}],
  calls_decline: ["POST", "/api/v1/calls/{call_id}/decline", [], ["reason"], {bearer: "bearer"}],
  calls_ice_servers: ["GET", "/api/v1/calls/{call_id}/ice-servers", [], [], {bearer: "bearer"}],
  messages_list_conversations: ["GET", "/api/v1/messages/conversations", ["cursor", "limit"], [], {bearer: "bearer"}],
  messages_start_conversation: ["POST", "/api/v1/messages/conversations", [], ["user_id"], {bearer: "bearer"}],
  messages_get_conversation: ["GET", "/api/v1/messages/conversations/{conversation_id}", [], [], {bearer: "bearer"}],
  messages_clear_conversation: ["POST", "/api/v1/messages/conversations/{conversation_id}/clear", [], ["message_id"], {bearer: "bearer"}],
  messages_send_image: ["POST", "/api/v1/messages/conversations/{conversation_id}/media", [], ["file", "body", "reply_to_id", "client_id"], {bearer: "bearer", multipart: true}],
  messages_list: ["GET", "/api/v1/messages/conversations/{conversation_id}/messages", ["after", "before", "limit"], [], {bearer: "bearer"}],
  messages_send: ["POST", "/api/v1/messages/conversations/{conversation_id}/messages", [], ["body", "reply_to_id", "client_id"], {bearer: "bearer"}],
  messages_mark_read: ["POST", "/api/v1/messages/conversations/{conversation_id}/read", [], ["message_id"], {bearer: "bearer"}],
  messages_search_inside: ["GET", "/api/v1/messages/conversations/{conversation_id}/search", ["before", "limit", "q"], [], {bearer: "bearer"}],
  messages_edit: ["PATCH", "/api/v1/messages/messages/{message_id}", [], ["body"], {bearer: "bearer"}],
  messages_delete: ["DELETE", "/api/v1/messages/messages/{message_id}", [], [], {bearer: "bearer"}],
  messages_react: ["POST", "/api/v1/messages/messages/{message_id}/reactions", [], ["emoji"], {bearer: "bearer"}],
  messages_unreact: ["DELETE", "/api/v1/messages/messages/{message_id}/reactions", [], ["emoji"], {bearer: "bearer"}],
  messages_report: ["POST", "/api/v1/messages/messages/{message_id}/report", [], ["reason", "comment"], {bearer: "bearer"}],
  messages_search_everywhere: ["GET", "/api/v1/messages/search", ["cursor", "limit", "q"], [], {bearer: "bearer"}],
  messages_search_users: ["GET", "/api/v1/messages/users", ["limit", "q"], [], {bearer: "bearer"}],
  messages_get_user: ["GET", "/api/v1/messages/users/{user_id}", [], [], {bearer: "bearer"}],
  notifications_list: ["GET", "/api/v1/notifications", ["cursor", "limit", "offset", "unread"], [], {bearer: "bearer"}],
  notifications_delete: ["DELETE", "/api/v1/notifications/{notification_id}", [], [], {bearer: "bearer"}],
  notifications_read: ["POST", "/api/v1/notifications/{notification_id}/read", [], [], {bearer: "bearer"}],
  notifications_preferences: ["GET", "/api/v1/notifications/preferences", [], [], {bearer: "bearer"}],
  notifications_preferences_set: ["PUT", "/api/v1/notifications/preferences", [], ["enabled", "quiet_mode", "likes", "comments", "follows", "messages"], {bearer: "bearer"}],
  notifications_preferences_change: ["PATCH", "/api/v1/notifications/preferences", [], ["enabled", "quiet_mode", "likes", "comments", "follows", "messages"], {bearer: "bearer"}],
  notifications_read_all: ["POST", "/api/v1/notifications/read-all", [], [], {bearer: "bearer"}],
  notifications_test_push: ["POST", "/api/v1/notifications/test-push", [], [], {bearer: "bearer"}],
  notifications_unread_count: ["GET", "/api/v1/notifications/unread-count", [], [], {bearer: "bearer"}],
  profile_get: ["GET", "/api/v1/profile", [], [], {bearer: "bearer"}],
  profile_update: ["PATCH", "/api/v1/profile", [], ["username", "first_name", "last_name", "bio", "language"], {bearer: "bearer"}],
  profile_avatar_set: ["PUT", "/api/v1/profile/avatar", [], ["file"], {bearer: "bearer", multipart: true}],
  profile_avatar_remove: ["DELETE", "/api/v1/profile/avatar", [], [], {bearer: "bearer"}],
  profile_blocks_list: ["GET", "/api/v1/profile/blocks", ["cursor", "limit"], [], {bearer: "bearer"}],
  profile_blocks_add: ["POST", "/api/v1/profile/blocks", [], ["user_id"], {bearer: "bearer"}],
  profile_blocks_remove: ["DELETE", "/api/v1/profile/blocks/{user_id}", [], [], {bearer: "bearer"}],
  profile_privacy_get: ["GET", "/api/v1/profile/privacy", [], [], {bearer: "bearer"}],
  profile_privacy_set: ["PUT", "/api/v1/profile/privacy", [], ["who_can_message", "read_receipts", "show_last_seen", "relay_calls"], {bearer: "bearer"}],
  profile_push_token_set: ["POST", "/api/v1/profile/push-token", [], ["token", "platform", "device_id", "locale", "app_version"], {bearer: "bearer"}],
  profile_push_token_remove: ["DELETE", "/api/v1/profile/push-token", [], ["token"], {bearer: "bearer"}],
  realtime_changes: ["GET", "/api/v1/realtime/changes", ["epoch", "limit", "since"], [], {bearer: "bearer"}],
};
const LIMITS = Object.freeze({
  bioLength: 500,
  hintLength: 64,
  imageBytes: 5242880,
  imagePixels: 24000000,
  imageSide: 12000,
  imageTypes: Object.freeze(["image/jpeg", "image/png", "image/webp", "image/gif"]),
  messageLength: 4096,
  nameLength: 50,
  leastPasswordLength: 8,
  reactions: 6,
  reportCommentLength: 2000,
  searchLength: 128,
  usernameDays: 30,
});

const REPEATABLE = new Set(["GET", "PUT", "DELETE"]);
const REPLACES_TOKEN = new Set(["auth_change_password"]);
const DOWNLOADS = new Set(["auth_export"]);
const LONGEST_WAIT_SECONDS = 60;

/** Calls of the REST API: one method per operation id. */
class Rest {
  #parley;
  #fetch;

  constructor(parley, fetch) {
    this.#parley = parley;
    this.#fetch = fetch;
  }

  /** The methods whose operation ids begin with `prefix`: `auth_two_step_enable` is `twoStepEnable`. */
  namespace(prefix) {
    const methods = {};
    for (const id of Object.keys(OPERATIONS)) {
      if (!id.startsWith(`${prefix}_`)) continue;
      const name = id.slice(prefix.length + 1).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      methods[name] = (params, options) => this.call(id, params, options);
    }
    return methods;
  }

  /** The reply's body, or ParleyError. */
  async call(id, params = {}, options = {}) {
    const operation = OPERATIONS[id];
    if (!operation) throw new TypeError(`There is no operation ${id}.`);
    const [method, , , , { bearer }] = operation;
    const tries = options.retry ?? (method === "GET" ? 2 : 1);
    const isRepeatable = REPEATABLE.has(method) || params.client_id !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      const token = options.token ?? (await this.#tokenFor(id, bearer));
      const run = async () => {
        const reply = await this.#once(id, operation, params, { ...options, token });
        this.#parley.session.follow(id, reply, token);
        return reply;
      };
      try {
        return await (REPLACES_TOKEN.has(id) ? this.#parley.session.exclusively(run) : run());
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        if (error.status === 429) this.#parley.emit("ratelimited", { operation: id, retryAfter: error.retryAfter });
        // Another tab may have signed in again during this request.
        const isOurs = options.token === undefined && bearer === "bearer";
        if (isOurs && (await this.#parley.session.refused(error, token)) && attempt === 1) continue;
        if (bearer === "two_step" && options.token === undefined) this.#parley.session.twoStepRefused(error);
        const wait = isRepeatable && attempt < tries ? waitBefore(error, attempt, options.retry !== undefined) : null;
        if (wait === null) throw error;
        await sleep(wait);
      }
    }
  }

  async #tokenFor(id, bearer) {
    if (bearer !== "bearer" && bearer !== "two_step") return null;
    const session = this.#parley.session;
    const token = bearer === "bearer" ? session.token : session.twoStepToken;
    if (!token) throw new ParleyError("token_invalid", { message: `${id} needs a sign-in.`, status: 401 });
    if (bearer === "bearer") session.renewWhenDue();
    return token;
  }

  async #once(id, operation, params, options) {
    const [method, , , bodyKeys, { multipart, action }] = operation;
    const { url, rest } = addressOf(this.#parley.baseUrl, id, operation, params);
    const headers = { Accept: "application/json" };
    if (this.#parley.language) headers["Accept-Language"] = this.#parley.language;
    if (options.token) headers.Authorization = `Bearer ${options.token}`;
    if (action && params.action_token) headers["X-Action-Token"] = params.action_token;
    if (["auth_login", "auth_verify", "auth_two_step"].includes(id)) this.#nameTheDevice(headers);
    let body;
    if (multipart) {
      body = new FormData();
      for (const [key, value] of Object.entries(rest)) body.append(key, value);
    } else if (bodyKeys.length > 0) {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(rest);
    }
    const signals = options.signal ? [options.signal] : [];
    // A stuck message would hold back those behind it, a stuck renewal of the token all tabs. Uploads and downloads
    // have no time limit.
    if (!multipart && !DOWNLOADS.has(id)) signals.push(timeoutSignal(this.#parley.timeout));
    const request = { method, url, headers, body, signal: anySignal(signals), keepalive: options.keepalive ?? false };
    const sent = Date.now();
    const answer =
      options.onProgress && typeof XMLHttpRequest === "function"
        ? await upload(request, options.onProgress)
        : await this.#send(request);
    this.#parley.clock.observe(answer.headers.get("Date"), sent);
    return read$1(answer);
  }

  #nameTheDevice(headers) {
    const { deviceName, session } = this.#parley;
    // A header has one byte for each character, so `fetch` throws at "Ann’s phone".
    if (deviceName) headers["X-Device-Name"] = String.fromCharCode(...new TextEncoder().encode(deviceName));
    // Browsers carry a cookie that scripts cannot read.
    if (session.deviceToken) headers["X-Device-Token"] = session.deviceToken;
  }

  async #send({ url, ...request }) {
    try {
      return await this.#fetch.call(undefined, url, { ...request, cache: "no-store" });
    } catch (error) {
      throw failed$1(error, request.signal);
    }
  }
}

/** The address, and what remains for the body. */
function addressOf(baseUrl, id, [, path, queryKeys, bodyKeys, { action }], params) {
  const rest = {};
  const query = new URLSearchParams();
  let filled = path;
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || (action && key === "action_token")) continue;
    if (path.includes(`{${key}}`)) filled = filled.replace(`{${key}}`, encodeURIComponent(value));
    else if (queryKeys.includes(key)) value === null || query.set(key, value);
    else if (bodyKeys.includes(key)) rest[key] = value;
    else throw new TypeError(`${id} has no parameter ${key}.`);
  }
  const missing = /\{(\w+)\}/.exec(filled);
  if (missing) throw new TypeError(`${id} needs ${missing[1]}.`);
  const text = query.toString();
  return { url: `${baseUrl}${filled}${text ? `?${text}` : ""}`, rest };
}

async function read$1(answer) {
  const isJson = answer.headers.get("Content-Type")?.includes("json");
  if (answer.ok && !isJson) return answer.blob();
  let body = null;
  try {
    body = isJson ? await answer.json() : null;
  } catch (error) {
    throw failed$1(error);
  }
  if (answer.ok && body?.ok !== false) return body;
  throw ParleyError.fromBody(body, answer.status, answer.headers);
}

/** Only XMLHttpRequest reports the progress of an upload. */
function upload({ method, url, headers, body, signal }, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
    request.onload = () => {
      const lines = request.getAllResponseHeaders().trim().split(/\r?\n/).filter(Boolean);
      /** @type {[string, string][]} */
      const pairs = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
      resolve(new Response(request.responseText, { status: request.status, headers: pairs }));
    };
    request.onerror = () => reject(failed$1(new Error("The upload failed.")));
    request.onabort = () => reject(new ParleyError("aborted"));
    if (signal?.aborted) {
      reject(new ParleyError("aborted"));
      return;
    }
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function failed$1(error, signal) {
  const isLate = signal?.reason?.name === "TimeoutError";
  if ((signal?.aborted && !isLate) || error?.name === "AbortError") return new ParleyError("aborted", { cause: error });
  return new ParleyError("network_error", { message: "The server cannot be reached.", cause: error });
}

/** Milliseconds until the next try; null if there should not be one. */
function waitBefore(error, attempt, isAsked) {
  if (error.code === "aborted") return null;
  if (error.status === 429 && !isAsked) return null;
  if (error.status !== 0 && error.status !== 429 && error.status !== 503) return null;
  if (error.retryAfter !== null && error.retryAfter > LONGEST_WAIT_SECONDS) return null;
  const least = (error.retryAfter ?? 0) * 1000;
  return least + Math.random() * 300 * 2 ** attempt;
}

const LONGEST_TIMER_MS = 3600_000;
const RETRY_MS = 30_000;
// The share of a token's life after which it is renewed; the rest is for times without a connection.
const RENEW_AFTER = 0.5;
// How many request time-outs to wait for a tab that replaces the token. Two tabs that do so at once get the same token.
const LOCK_SHARE = 0.3;
const ENDS = new Set(["token_revoked", "token_expired", "token_invalid", "account_blocked"]);
// After these the sign-in was ended, here or from another device (a lost laptop), so the user's data is removed.
const FORGETS = new Set(["signed_out", "token_revoked", "account_blocked"]);
const SIGNS_IN = new Set(["auth_login", "auth_verify", "auth_two_step", "auth_two_step_forgot"]);

/** The sign-in: follows the replies of the API, renews the token, and agrees with the other tabs. */
class Session {
  #parley;
  #storage;
  #tabs;
  #keys;
  // The state that this tab last reported to its handlers.
  #known = null;
  #timer = null;
  #renewal = null;
  #parsed = { text: null, record: null };

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#storage = storage;
    this.#tabs = tabs;
    const { name } = parley;
    this.#keys = {
      record: `${name}.session`,
      twoStep: `${name}.two_step`,
      device: `${name}.device_token`,
      ended: `${name}.ended`,
    };
    this.#known = this.#record;
    tabs.on((message) => this.#onTabMessage(message));
    this.#schedule();
  }

  get token() {
    return this.#record?.token ?? null;
  }

  /** The account as last seen: fields of `user` in the replies of sign-in, `me` and profile. */
  get user() {
    return this.#record?.user ?? null;
  }

  get userId() {
    const record = this.#record;
    return record ? (record.user?.id ?? Number(claimsOf(record.token).sub)) : null;
  }

  get isSignedIn() {
    return this.#record !== null;
  }

  /** `{hint}` between the first and the second password. */
  get twoStep() {
    const pending = this.#read(this.#keys.twoStep);
    return pending ? { hint: pending.hint } : null;
  }

  get twoStepToken() {
    return this.#read(this.#keys.twoStep)?.token ?? null;
  }

  get deviceToken() {
    return this.#read(this.#keys.device);
  }

  cancelTwoStep() {
    this.#storage.removeItem(this.#keys.twoStep);
  }

  /** Ends the sign-in here at once, and on the server when it can be reached. */
  async signOut() {
    const { token } = this;
    if (!token) return;
    this.end("signed_out");
    try {
      await this.#parley.rest.call("auth_logout", {}, { token });
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
    }
  }

  /** Applies a reply that changes the sign-in. `usedToken` is the bearer that the request carried. */
  follow(id, reply, usedToken) {
    if (id === "auth_logout" && usedToken === this.token) this.end("signed_out");
    if (SIGNS_IN.has(id)) this.#signsIn(reply);
    else if (id.startsWith("auth_") && id !== "auth_refresh" && reply?.token) this.#renewed(usedToken, reply.token);
    else if (id === "auth_me") this.#learn(usedToken, reply.user);
    else if (id === "profile_get" || id === "profile_update") this.#learn(usedToken, reply.profile);
    else if (id.startsWith("profile_avatar_")) this.#learn(usedToken, { avatar_url: reply.avatar_url });
  }

  /** A request with the session's token was refused: whether to try again with a newer one. */
  async refused(error, usedToken) {
    if (!ENDS.has(error.code)) return false;
    const { sid } = claimsOf(usedToken);
    return (await this.endUnlessRenewed(error.code, usedToken)) === "renewed" && sid === this.#sid;
  }

  /**
   * The server has ended `usedToken`: "renewed" when there is another by now, otherwise the session is over.
   * A change of password ends the old token a moment before its reply brings the new one, maybe to another tab.
   */
  async endUnlessRenewed(reason, usedToken) {
    if (usedToken === this.token) await this.exclusively(() => this.#tabs.waitForStorage());
    if (usedToken === this.token) this.end(reason);
    return this.token ? "renewed" : "ended";
  }

  /** Runs work that replaces the token, in one tab at a time. */
  exclusively(work) {
    return this.#tabs.lock("refresh", work, this.#parley.timeout * LOCK_SHARE);
  }

  twoStepRefused(error) {
    if (ENDS.has(error.code)) this.cancelTwoStep();
  }

  end(reason) {
    const record = this.#record;
    if (!record) return;
    const { sid } = claimsOf(record.token);
    // The reason is stored first, because other tabs read it when they see that the token is gone.
    this.#storage.setItem(this.#keys.ended, JSON.stringify({ sid, reason }));
    this.#storage.removeItem(this.#keys.record);
    this.cancelTwoStep();
    this.#tabs.post({ type: "session.ended", sid });
    this.#notifyChanges();
  }

  /** Renews the token; only one of all tabs asks. Also done automatically before expiry. */
  refresh() {
    this.#renewal ??= this.#renew(this.token).finally(() => {
      this.#renewal = null;
      this.#schedule();
    });
    return this.#renewal;
  }

  renewWhenDue() {
    if (this.#parley.clock.now() >= this.#due) this.refresh().catch(() => {});
  }

  close() {
    clearTimeout(this.#timer);
  }

  get #record() {
    const text = this.#storage.getItem(this.#keys.record);
    if (text !== this.#parsed.text) this.#parsed = { text, record: parse(text) };
    return this.#parsed.record?.token ? this.#parsed.record : null;
  }

  get #sid() {
    return this.token ? claimsOf(this.token).sid : null;
  }

  /** When the token should be renewed, by the server's clock. */
  get #due() {
    const { iat, exp } = claimsOf(this.token ?? "");
    return exp ? (iat + (exp - iat) * RENEW_AFTER) * 1000 : Infinity;
  }

  #read(key) {
    return parse(this.#storage.getItem(key));
  }

  #write(record) {
    this.#storage.setItem(this.#keys.record, JSON.stringify(record));
    this.#tabs.post({ type: "session.changed" });
    this.#notifyChanges();
  }

  #signsIn(reply) {
    if (reply.two_step_required) {
      const pending = { token: reply.two_step_token, hint: reply.hint };
      this.#storage.setItem(this.#keys.twoStep, JSON.stringify(pending));
    }
    if (reply.device_token) this.#storage.setItem(this.#keys.device, JSON.stringify(reply.device_token));
    if (!reply.token) return;
    this.cancelTwoStep();
    this.#write({ token: reply.token, user: reply.user });
  }

  /** An earlier sign-out, or another sign-in, wins over the reply of a renewal. */
  #renewed(usedToken, token) {
    const record = this.#record;
    if (record?.token === usedToken) this.#write({ ...record, token });
  }

  #learn(usedToken, user) {
    const record = this.#record;
    if (record?.token !== usedToken || !user) return;
    this.#storage.setItem(this.#keys.record, JSON.stringify({ ...record, user: { ...record.user, ...user } }));
    this.#known = this.#record;
  }

  async #renew(seen) {
    if (!seen) return;
    await this.exclusively(async () => {
      const { token } = this;
      // Another tab renewed or signed out meanwhile.
      if (token !== seen) return;
      try {
        const reply = await this.#parley.rest.call("auth_refresh", {}, { token });
        this.#renewed(token, reply.token);
      } catch (error) {
        if (ENDS.has(error.code) && this.token === token) this.end(error.code);
        throw error;
      }
    });
  }

  #schedule() {
    clearTimeout(this.#timer);
    if (!this.token) return;
    const wait = this.#due - this.#parley.clock.now();
    const next = wait > 0 ? Math.min(wait, LONGEST_TIMER_MS) : RETRY_MS;
    this.#timer = setTimeout(() => {
      this.renewWhenDue();
      this.#schedule();
    }, next);
    this.#timer.unref?.();
  }

  #onTabMessage({ type, sid }) {
    // A renewal may have written its token just after the sign-out, which wins.
    if (type === "session.ended" && this.#sid === sid) this.#storage.removeItem(this.#keys.record);
    if (["session.ended", "session.changed", "storage"].includes(type)) this.#notifyChanges();
  }

  /** Notifies the handlers of changes since the last notification. */
  #notifyChanges() {
    const before = this.#known;
    const now = this.#record;
    this.#known = now;
    this.#schedule();
    if (before?.token === now?.token) return;
    const { sid } = claimsOf(before?.token ?? "");
    const isSame = before && now && sid === claimsOf(now.token).sid;
    if (isSame) {
      this.#parley.emit("session.renewed", { token: now.token });
      return;
    }
    if (before) {
      const ended = this.#read(this.#keys.ended);
      const reason = ended?.sid === sid ? ended.reason : "signed_out";
      this.#parley.emit("signedout", { reason, forget: FORGETS.has(reason) });
    }
    if (now) this.#parley.emit("signedin", { user: now.user });
  }
}

/** The claims of a token, without verification. */
function claimsOf(token) {
  try {
    const text = atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function parse(text) {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

const READY_MS = 10_000;
const ANSWER_MS = 15_000;
// The connection counts as dead if no frame arrives after a ping.
const SILENCE_MS = 10_000;
const ACK_MS = 50;
// Events that a device acknowledges although it has just loaded the state.
const CAUGHT_UP = 100;
// Browsers complain about a socket that is closed before it has opened.
const [CONNECTING, OPEN] = [0, 1];

/** The real-time channel: it stays connected while wanted, and passes every durable event once and in order. */
class Socket {
  #parley;
  #WebSocket;
  #socket = null;
  // The token that the server has accepted on this socket, or will accept with `ready`.
  #usedToken = null;
  #offeredToken = null;
  #isWanted = false;
  #isReady = false;
  #status = "offline";
  #failures = 0;
  #retryTimer = null;
  #readyTimer = null;
  #pingTimer = null;
  #silenceTimer = null;
  #ackTimer = null;
  #acked = 0;
  // The client's position in the user's event log: {epoch, seq}.
  #place = null;
  #probe = new Probe();
  // What has arrived and not yet been handled, in order.
  #queue = [];
  #isHandling = false;
  #isResuming = false;
  #isCatchingUp = false;
  #pending = new Map();
  #lastRef = 0;
  #goAwayMs = null;
  #stopListening = () => {};

  constructor(parley, WebSocket) {
    this.#parley = parley;
    this.#WebSocket = WebSocket;
    parley.on("signedout", () => {
      this.#place = null;
      this.disconnect();
    });
    parley.on("session.renewed", () => this.#renew());
  }

  get status() {
    return this.#status;
  }

  get place() {
    return this.#place ? { ...this.#place } : null;
  }

  /** `place` is a position that an app has kept. */
  connect(place = null) {
    if (place) this.#place = { ...place };
    if (!this.#isWanted) this.#listen();
    this.#isWanted = true;
    this.#retryNow();
  }

  disconnect() {
    this.#isWanted = false;
    this.#stopListening();
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#setStatus("offline", {});
  }

  /** Sends a command; the data of its reply, or ParleyError. */
  command(type, data = {}) {
    if (!this.#isReady)
      return Promise.reject(new ParleyError("network_error", { message: "The socket is not connected." }));
    const ref = `c${(this.#lastRef += 1)}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(ref);
        reject(new ParleyError("network_error", { message: `No answer to ${type}.` }));
      }, ANSWER_MS);
      this.#pending.set(ref, { resolve, reject, timer });
      this.#write({ type, ref, data });
    });
  }

  // --- Connecting ------------------------------------------------------------------------------

  #listen() {
    this.#stopListening = onNetwork({
      online: () => {
        this.#probe.stop();
        if (this.#socket) this.#ping();
        else this.#retryNow();
      },
      offline: () => this.#lose({ code: 0, reason: "offline" }),
    });
  }

  async #retryNow() {
    if (!this.#isWanted || this.#socket || this.#probe.isRunning) return;
    clearTimeout(this.#retryTimer);
    if (this.#failures === 0 || !isBrowser()) return void this.#open();
    this.#setStatus("connecting", {});
    const isAnswered = await this.#probe.ask(this.#parley.baseUrl);
    if (isAnswered) this.#open();
    else if (isAnswered === false) this.#lose({ code: 0, reason: "no_answer" });
  }

  #open() {
    const token = this.#parley.session.token;
    if (!token) return;
    this.#setStatus("connecting", {});
    this.#usedToken = this.#offeredToken = token;
    const socket = new this.#WebSocket(`${this.#parley.baseUrl.replace(/^http/, "ws")}/api/v1/realtime`);
    this.#socket = socket;
    this.#readyTimer = setTimeout(() => this.#lose({ code: 0, reason: "no_answer" }), READY_MS);
    // An abandoned socket may still deliver frames: only those of the current one are handled.
    const only = (handle) => (event) => socket === this.#socket && handle(event);
    socket.onopen = only(() => {
      const resume = this.#place ? { resume: this.#place } : {};
      this.#write({ type: "auth", ref: "auth", data: { token, ...resume } });
    });
    socket.onmessage = only(({ data }) => this.#onFrame(JSON.parse(data)));
    socket.onclose = only(({ code, reason }) => this.#lose({ code, reason }));
    socket.onerror = () => {};
  }

  /** Drops the current connection without calling the handlers. */
  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#probe.stop();
    this.#isReady = this.#isResuming = this.#isCatchingUp = false;
    // It is sent again.
    this.#queue = [];
    for (const timer of [this.#readyTimer, this.#pingTimer, this.#silenceTimer, this.#ackTimer]) clearTimeout(timer);
    this.#ackTimer = this.#silenceTimer = null;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new ParleyError("network_error", { message: "The connection was lost." }));
    }
    this.#pending.clear();
    if (socket?.readyState === CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  #lose({ code, reason }) {
    this.#drop();
    if (!this.#isWanted) return;
    if (code === CLOSE.UNAUTHORISED) return void this.#refused(reason || "token_revoked");
    if (code === CLOSE.TOO_MANY) {
      // The newest sockets win, so an automatic reconnect would in turn close another tab's socket.
      return this.#setStatus("offline", { reason: "too_many_sockets" });
    }
    // The origin of this page is not allowed; a retry would not help.
    if (code === CLOSE.FORBIDDEN && reason !== "other_user") return this.#setStatus("offline", { reason: "forbidden" });
    this.#failures += 1;
    const wait = this.#goAwayMs !== null && this.#failures === 1 ? this.#goAwayMs : waitAfter(this.#failures, code);
    this.#goAwayMs = null;
    this.#retryTimer = setTimeout(() => this.#retryNow(), wait);
    this.#setStatus("offline", { retryAt: Date.now() + wait, ...(reason ? { reason } : {}) });
  }

  async #refused(reason) {
    this.#setStatus("connecting", {});
    // Signed out, or there is a newer token.
    if ((await this.#parley.session.endUnlessRenewed(reason, this.#usedToken)) === "renewed") this.#retryNow();
  }

  #setStatus(status, details) {
    if (status === this.#status && status !== "offline") return;
    const isNews = status !== this.#status || Object.keys(details).length > 0;
    this.#status = status;
    if (isNews) this.#parley.emit("status", { status, ...details });
  }

  // --- Frames ----------------------------------------------------------------------------------

  #write(frame) {
    // A closing socket does not take frames; its close event rejects the waiting commands.
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #onFrame(frame) {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = null;
    const { type, data } = frame;
    if (type === "reply") this.#answered(frame);
    else if (type === "ready") this.#ready(data);
    else if (type === "resync") this.#resync(data);
    else if (type === "synced") this.#synced(data);
    else if (frame.seq !== undefined) this.#durable(frame);
    else {
      if (type === "goaway") this.#goAwayMs = data.retry_ms;
      if (type === "auth.expiring") this.#parley.session.renewWhenDue();
      this.#parley.emit(type, data, frame);
    }
  }

  #answered({ ref, ok, data, ...error }) {
    // Only a refusal is answered. The next connection begins with another token.
    if (ref === "resume") return this.#lose({ code: 0, reason: error.error });
    const waiting = this.#pending.get(ref);
    this.#pending.delete(ref);
    clearTimeout(waiting?.timer);
    if (ok) return waiting?.resolve(data);
    waiting?.reject(ParleyError.fromFrame(error));
  }

  #ready(data) {
    clearTimeout(this.#readyTimer);
    const isFirst = this.#place === null;
    [this.#isReady, this.#failures] = [true, 0];
    this.#acked = this.#place?.seq ?? data.seq;
    if (isFirst) this.#place = { epoch: data.epoch, seq: data.seq };
    else this.#place.epoch = data.epoch;
    this.#pingTimer = setInterval(() => this.#ping(), data.ping_s * 1000);
    this.#pingTimer.unref?.();
    // Another tab may have renewed the token while this socket opened.
    this.#renew();
    this.#setStatus("online", {});
    this.#parley.emit("ready", data);
    if (!isFirst) return;
    this.#parley.emit("reload", { reason: "start", seq: data.seq });
    this.#catchUp(data);
  }

  /** A new device confirms the delivery of the latest messages to their senders: it lets the server send the
   * latest events again and acknowledges them. The handlers do not receive them. */
  #catchUp({ epoch, seq, min_seq: oldest }) {
    this.#isCatchingUp = seq > oldest;
    if (this.#isCatchingUp)
      this.#write({ type: "resume", ref: "resume", data: { epoch, seq: Math.max(oldest, seq - CAUGHT_UP) } });
  }

  #durable(frame) {
    const { type, seq, data } = frame;
    const last = Math.max(this.#place.seq, ...this.#queue.map((task) => task.seq ?? 0));
    if (seq > last + 1) {
      if (!this.#isResuming)
        this.#write({ type: "resume", ref: "resume", data: { epoch: this.#place.epoch, seq: last } });
      this.#isResuming = true;
    } else if (seq === last + 1) {
      this.#isResuming = false;
      this.#handle({ seq, run: () => this.#parley.deliver(type, data, frame) });
    } else this.#acknowledge();
  }

  /** One after the other; an event is done when the promises of its handlers are. */
  #handle(task) {
    this.#queue.push(task);
    this.#handleNext();
  }

  #handleNext() {
    while (this.#queue.length > 0 && !this.#isHandling) {
      const task = this.#queue[0];
      const place = this.#place;
      this.#isHandling = true;
      const pending = task.run();
      const done = () => {
        this.#isHandling = false;
        if (this.#queue[0] === task) this.#queue.shift();
        if (!task.seq) return;
        // A handler may have signed out, or the log may have another epoch by now.
        if (place && place === this.#place && place.seq === task.seq - 1) place.seq = task.seq;
        if (this.#isReady) this.#acknowledge();
      };
      if (!pending) done();
      else
        pending.then(() => {
          done();
          this.#handleNext();
        });
    }
  }

  /** Called only after the handlers are done, so that an event is never lost; at worst it comes twice. */
  #acknowledge() {
    this.#ackTimer ??= setTimeout(() => {
      this.#ackTimer = null;
      if (!this.#isReady || this.#isCatchingUp || this.#place.seq <= this.#acked) return;
      this.#acked = this.#place.seq;
      this.#write({ type: "ack", data: { seq: this.#acked } });
    }, ACK_MS);
  }

  #resync({ reason, seq }) {
    this.#isResuming = this.#isCatchingUp = false;
    this.#queue = [];
    this.#place = { ...this.#place, seq };
    this.#acked = seq;
    this.#parley.emit("reload", { reason, seq });
  }

  #synced(data) {
    this.#isResuming = false;
    if (this.#isCatchingUp) {
      this.#isCatchingUp = false;
      this.#acked = 0;
      return this.#acknowledge();
    }
    return this.#handle({ run: () => this.#parley.emit("synced", data) });
  }

  #ping() {
    if (!this.#isReady) return;
    this.#write({ type: "ping" });
    this.#silenceTimer ??= setTimeout(() => this.#lose({ code: 0, reason: "silence" }), SILENCE_MS);
  }

  /**
   * Offers the session's newest token to the socket. Until the server has accepted it, the earlier one counts. A change
   * of the password ends the earlier one, and the socket closes because of that, not because of the new token.
   */
  async #renew() {
    const { token } = this.#parley.session;
    if (!this.#isReady || !token || token === this.#offeredToken) return;
    const socket = this.#socket;
    this.#offeredToken = token;
    try {
      await this.command("auth", { token });
      if (socket === this.#socket) this.#usedToken = token;
    } catch {
      if (socket === this.#socket) this.#offeredToken = this.#usedToken;
    }
  }
}

/** What an app has of the service, without the store. */
class Client extends Emitter {
  #socket;
  #typing;
  #tabs;

  constructor({
    baseUrl = globalThis.location?.origin,
    storage = defaultStorage(),
    language = null,
    fetch = globalThis.fetch,
    WebSocket = globalThis.WebSocket,
    RTCPeerConnection = globalThis.RTCPeerConnection,
    mediaDevices = globalThis.navigator?.mediaDevices,
    deviceName = null,
    timeout = 30_000,
    name = "parley",
  } = {}) {
    super();
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.language = language;
    this.deviceName = deviceName;
    this.timeout = timeout;
    this.name = name;
    this.clock = new Clock();
    this.#tabs = new Tabs(name, storage);
    const safe = new SafeStorage(storage);
    this.rest = new Rest(this, fetch);
    this.session = new Session(this, safe, this.#tabs);
    this.auth = this.rest.namespace("auth");
    this.messages = this.rest.namespace("messages");
    this.notifications = this.rest.namespace("notifications");
    this.profile = this.rest.namespace("profile");
    this.realtime = this.rest.namespace("realtime");
    this.#socket = new Socket(this, WebSocket);
    this.presence = new Presence(this);
    new Receipts(this);
    this.#typing = new Typing(this);
    this.outbox = new Outbox(this, safe, this.#tabs);
    this.calls = Object.assign(new Calls(this, { RTCPeerConnection, mediaDevices }), this.rest.namespace("calls"));
  }

  /** "connecting", "online" or "offline". */
  get status() {
    return this.#socket.status;
  }

  /** The position in the event log, for an app that keeps its own copy of the state. */
  get place() {
    return this.#socket.place;
  }

  /** Milliseconds by the server's clock. */
  now() {
    return this.clock.now();
  }

  connect(place = null) {
    this.#socket.connect(place);
  }

  disconnect() {
    this.#socket.disconnect();
  }

  command(type, data) {
    return this.#socket.command(type, data);
  }

  /** Call it on every key press, with false when the text was sent or emptied. */
  typing(conversationId, isTyping = true) {
    this.#typing.note(conversationId, isTyping);
  }

  /** The absolute address of `media_url`, `thumb_url` or `avatar_url`; null stays null. */
  mediaUrl(path) {
    return path ? new URL(path, `${this.baseUrl}/`).href : null;
  }

  /** Releases all resources: socket, timers, tabs. */
  close() {
    this.calls.close();
    this.disconnect();
    this.#typing.close();
    this.outbox.close();
    this.session.close();
    this.#tabs.close();
  }
}

// The only connection of this window to the API.

// A demo user belongs to one window (session storage), so that one browser can show two of them side by side.
const OWN_WINDOW = "parley.window";

const parley = new Client({ storage: storedHere.getItem(OWN_WINDOW) ? ofWindow : ofBrowser });

// The reply, unless another user is signed in by the time it is here, or none.
async function forThisUser(request) {
  const { userId } = parley.session;
  const reply = await request;
  if (parley.session.userId !== userId) throw new ParleyError("aborted");
  return reply;
}

// Icons drawn with lines, in the colour of the text beside them.

const PATHS = {
  back: "M15 5l-7 7 7 7",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0",
  block: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.6 5.6l12.8 12.8",
  camera: "M3 7h11a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM15 11l6-3.5v9L15 13",
  cameraOff: "M3 7h11a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM15 11l6-3.5v9L15 13M3 3l18 18",
  chats: "M4 5h16v11H9l-5 4z",
  check: "M4 12.5l5 5L20 6.5",
  clear: "M4 5h16v11H9l-5 4zM9 8l6 5M15 8l-6 5",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  down: "M6 9l6 6 6-6",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  flag: "M5 21V4h13l-3 4.5 3 4.5H5",
  hangup: "M3 14c5-5 13-5 18 0l-2.2 3-4-1.4v-2.4a12 12 0 0 0-5.6 0v2.4l-4 1.4z",
  fullScreen: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  image: "M4 5h16v14H4zM4 16l4.5-4.5L13 16l3-3 4 4M15.5 9.5v.1",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  microphone: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4",
  microphoneOff: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4M4 3l16 18",
  more: "M12 5.5v.1M12 12v.1M12 18.5v.1",
  incoming: "M19 5 6 18M6 9v9h9",
  mute: "M6 16V11a6 6 0 0 1 9.5-4.9M18 11v5l1.5 2h-15M10 20.5a2.2 2.2 0 0 0 4 0M4 4l16 16",
  next: "M9 5l7 7-7 7",
  outgoing: "M5 19 18 6M9 6h9v9",
  phone: "M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a1.5 1.5 0 0 1-1.6 1.5A16 16 0 0 1 3.5 5.6 1.5 1.5 0 0 1 5 4z",
  switchCamera:
    "M4 9a1 1 0 0 1 1-1h2l1.5-2h7L17 8h2a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM9 13a3 3 0 0 1 5.2-2M15 13a3 3 0 0 1-5.2 2M14.5 9v2h-2M9.5 17v-2h2",
  redial: "M5 12a7 7 0 1 0 2.2-5.1M7 3v4h4",
  reply: "M10 6 4 12l6 6M4 12h9c4 0 7 2 7 6",
  screen: "M3 5h18v11H3zM8 20h8M12 16v4",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5",
  send: "M4 12 20 4l-5 16-3.5-6.5z",
  settings:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1M16.6 16.6l2.1 2.1M18.7 5.3l-2.1 2.1M7.4 16.6l-2.1 2.1",
  smile: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5v.1M15 9.5v.1",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  up: "M6 15l6-6 6 6",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0",
  zoomIn: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5M8 11h6M11 8v6",
  zoomOut: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5M8 11h6",
};

function Icon({ name, size = 22 }) {
  return html`<svg class=${`icon icon-${name}`} viewBox="0 0 24 24" width=${size} height=${size} aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} /></svg>`;
}

// The notices that are shown (lib/notices.js).

function Notices() {
  const notices = useStore(list, (state) => state.notices);
  return html`<div class="notices" aria-live="polite">${notices.map((entry) => html`<${Notice} key=${entry.id} entry=${entry} />`)}</div>`;
}

// Stays while the pointer is over it or the focus is in it; after that, its time begins anew.
function Notice({ entry }) {
  const { id, text, label, act, kind, heldBy } = entry;
  const hold = ({ type }) => {
    heldBy.add(type);
    clearTimeout(entry.timer);
  };
  const release = (type) =>
    heldBy.delete(type) && !heldBy.size && list.getSnapshot().notices.includes(entry) && startTime(entry);
  // A dialog takes its notices with it: then no event tells that the pointer or the focus has left.
  A(
    () => () => {
      release("pointerenter");
      release("focusin");
    },
    [],
  );
  const run = () => {
    act();
    dismiss(id);
  };
  return html`<div class=${`notice ${kind}`} onPointerEnter=${hold} onPointerLeave=${() => release("pointerenter")}
      onFocusIn=${hold} onFocusOut=${() => release("focusin")}><span>${text}</span>
    ${label && html`<button class="text-button" onClick=${run}>${label}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${() => dismiss(id)}>×</button></div>`;
}

// Modules that are loaded when they are first wanted. Firefox keeps the failure of a module until the page goes: what
// has failed once is asked for under another address.
const failures = new Map();

// By its place below this folder, such as "calls/layer.js".
async function load(name) {
  const address = `./${name}`;
  const count = failures.get(name) ?? 0;
  try {
    return await import(count ? `${import.meta.resolve(address)}?retry=${count}` : address);
  } catch (error) {
    failures.set(name, count + 1);
    throw error;
  }
}

// The address is the state of navigation: links below /app/ change it without loading the page anew.

const read = () => ({ path: location.pathname, search: location.search, hash: location.hash });
const place = createStore(read());

addEventListener("popstate", () => place.set(read()));

function navigate(path, { replace = false } = {}) {
  if (path === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", path);
  place.set(read());
}

const onNavigation = place.subscribe;

const isOurs = (path) => path === "/" || path.startsWith("/app/");

function usePlace() {
  return useStore(place);
}

// A part that is no valid encoding stands for itself.
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// "/app/chats/:id" against a path: {id} or null.
function match(pattern, path) {
  const names = pattern.split("/");
  const parts = path
    .replace(/(.)\/$/, "$1")
    .split("/")
    .map(decode);
  if (names.length !== parts.length) return null;
  const params = {};
  for (const [index, name] of names.entries()) {
    if (name.startsWith(":")) params[name.slice(1)] = parts[index];
    else if (name !== parts[index]) return null;
  }
  return params;
}

function onClick(event) {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const address = new URL(link.href, location.href);
  if (address.origin !== location.origin || !isOurs(address.pathname)) return;
  event.preventDefault();
  navigate(address.pathname + address.search);
}

// Once, in the shell: plain <a href="/app/…"> are enough everywhere.
function useLinks() {
  A(() => {
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}

// A link of a navigation, marked when the reader is there or below.
function NavLink({ href, children, ...rest }) {
  const { path } = usePlace();
  const here = path === href || path.startsWith(`${href}/`);
  return html`<a href=${href} aria-current=${here ? "page" : undefined} ...${rest}>${children}</a>`;
}

// While something is under way, and what is left when it has failed.

function Loading({ label = t("Loading") }) {
  return html`<div class="spinner" role="progressbar" aria-label=${label}></div>`;
}

function Retry({ error, onRetry, className = "danger-text" }) {
  return html`<p class=${className}>${errorText(error)} <button type="button" class="text-button"
    onClick=${() => onRetry()}>${t("Try again")}</button></p>`;
}

// Configuration that the server embeds in the page (portal/client/page.py).
const root = document.getElementById("app");

const config = {
  product: "",
  developer: false,
  demo: [],
  pictures: {},
  catalogs: {},
  emoji: {},
  sheets: [],
  switches: [],
  ...JSON.parse(root.dataset.options || "{}"),
};
// The address that the browser has loaded it from already.
const ICON = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href;

// Light, dark, or what the system prefers; kept in this browser.

const KEY = "parley.theme";

const theme = () => stored.getItem(KEY) ?? "system";

function setTheme(name) {
  if (name === "system") stored.removeItem(KEY);
  else stored.setItem(KEY, name);
  showTheme();
}

function showTheme() {
  const name = theme();
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

addEventListener("storage", (event) => {
  if (event.key === KEY) showTheme();
});

// The addresses that modules besides the table of routes name.
const HOME = "/app/chats";
const SIGN_IN = "/app/sign-in";
const SIGNED_OUT = "/app/signed-out";

// Where a sign-in leads: to the page that was asked for, if it is one of ours.
const nextPage = (query) => (query.next?.startsWith("/app/") ? query.next : HOME);

// State shared by the whole client: the signed-in user, the connection.

const app = createStore({
  user: null,
  // Signed in as a demo user for this window.
  isDemo: false,
  status: "connecting",
  retryAt: null,
  // What signed-in users need could not be loaded.
  isBroken: false,
  // Loaded with the rest of what they need.
  Navigation: null,
  // The user signs out: another page is about to be loaded.
  leaving: false,
});

// The signed-in user of this window: the start, a sign-in, the end.

// Signs in for this window only; the page loads anew with it, unless the browser keeps nothing over that. Goes to the
// address that `findPlace` resolves to, which gets the client that has signed in.
async function signInWindow(login, findPlace) {
  if (!isKeeping) {
    app.set({ isDemo: true });
    await parley.auth.login(login);
    navigate(await findPlace(parley));
    return;
  }
  const own = new Client({ storage: ofWindow });
  await own.auth.login(login);
  storedHere.setItem(OWN_WINDOW, "1");
  location.assign(await findPlace(own));
}

async function signOut(next = "/app/") {
  app.set({ leaving: true });
  await (await load("signed_in.js")).finish();
  try {
    await parley.session.signOut();
  } finally {
    storedHere.removeItem(OWN_WINDOW);
    location.assign(next);
  }
}

// Data that the sign-in reply lacks: the language of the account, the picture. An unconfirmed account has to wait for it.
async function loadProfile() {
  try {
    const { profile } = await forThisUser(parley.profile.get());
    app.set(({ user }) => user && { user: { ...user, ...profile } });
  } catch {
    // Whatever is wrong, the connection says it, too.
  }
}

let prepared = null;
const prepare = () =>
  (prepared ??= load("signed_in.js").then(async (module) => {
    await module.prepare();
    app.set({ Navigation: module.Navigation });
  }));

async function enter() {
  try {
    await prepare();
  } catch {
    app.set({ isBroken: true });
    return;
  }
  if (!parley.session.isSignedIn) return;
  app.set({ user: parley.session.user });
  parley.connect();
  loadProfile();
}

async function start() {
  parley.language = language();
  onLanguage((code) => {
    parley.language = code;
  });
  app.set({ status: parley.status, isDemo: Boolean(storedHere.getItem(OWN_WINDOW)) });
  parley.on("status", ({ status, retryAt, reason }) =>
    app.set({ status, retryAt: retryAt ?? null, offlineReason: reason ?? null }),
  );
  parley.on("signedin", enter);
  parley.on("profile.updated", (data) => app.set(({ user: old }) => ({ user: { ...old, ...data.user } })));
  parley.on("signedout", ({ reason }) => {
    app.set({ user: null });
    // Who signs in again goes on where the session ended.
    const query = new URLSearchParams(reason === "signed_out" ? { reason } : { reason, next: location.pathname });
    if (!app.getSnapshot().leaving) navigate(`${SIGNED_OUT}?${query}`, { replace: true });
  });
  if (parley.session.isSignedIn) await enter();
}

// The whole seconds until a time in milliseconds, drawn anew as they go; 0 without one, or once it is past.
function useSeconds(until) {
  const [now, setNow] = d(Date.now());
  A(() => {
    if (!until) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until ? Math.max(0, Math.ceil((until - now) / 1000)) : 0;
}

// The state of the connection while it is not as it should be, and the wait after too many requests.

// A connection that comes about at once needs no words.
const PATIENCE = 700;

function Limited() {
  const [until, setUntil] = d(0);
  const left = useSeconds(until);
  A(() => parley.on("ratelimited", ({ retryAfter }) => setUntil(Date.now() + (retryAfter || 1) * 1000)), []);
  return (
    left > 0 &&
    html`<div class="banner" role="status" aria-live="off">
    ${tn("Too many requests. Try again in {n} second.", "Too many requests. Try again in {n} seconds.", left)}</div>`
  );
}

function Banner() {
  const status = useStore(app, (state) => state.status);
  const reason = useStore(app, (state) => state.offlineReason);
  const user = useStore(app, (state) => state.user);
  const [shown, setShown] = d(false);
  const bad = Boolean(user) && status !== "online";
  A(() => {
    if (!bad) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), status === "offline" ? 0 : PATIENCE);
    return () => clearTimeout(timer);
  }, [bad, status]);
  const text = status === "offline" ? t("Offline") : t("Connecting…");
  const hint =
    reason === "forbidden"
      ? t("The service accepts no connection from this address. Open it at its own address.")
      : t("Messages will be sent when you're back online.");
  return html`<div class="banners">
    ${
      bad &&
      shown &&
      html`<div class="banner" role="status" aria-label=${text}><span>${text}</span>
      ${
        status === "offline" &&
        html`<span class="banner-hint">${hint}</span>
        <button class="text-button" onClick=${() => parley.connect()}>${t("Retry")}</button>`
      }</div>`
    }
    <${Limited} />
  </div>`;
}

// Whether a reload of the page would take nothing from the user: texts that are kept only in this page, dialogs, a call.

/** @param {HTMLInputElement} field or a text area */
const isFilled = ({ type, value, defaultValue, files }) =>
  type === "file"
    ? files.length > 0
    : ["text", "password", "email", "search", "textarea"].includes(type) && value !== defaultValue;

function canReload() {
  if (!isKeeping || parley.calls.current || parley.outbox.items().length > 0) return false;
  const fields = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input, textarea")]);
  return !document.querySelector("dialog[open], .staged") && !fields.some(isFilled);
}

// Every page: its address, its module (loaded when it is first wanted) and for whom it is.
// `open` pages need no sign-in; `wide` pages bring their own panes.
const later = (name) => () => load(name);
const landing = later("pages/landing.js");
const chats = later("pages/chats.js");
const settings = later("pages/settings/page.js");
const ROUTES = [
  { path: "/", open: true, guest: true, load: landing },
  { path: "/app", open: true, guest: true, load: landing },
  { path: "/app/sign-up", open: true, guest: true, load: later("pages/signup.js") },
  { path: "/app/verify", open: true, load: later("pages/verify.js") },
  { path: SIGN_IN, open: true, guest: true, load: later("pages/signin.js") },
  { path: "/app/two-step", open: true, guest: true, load: later("pages/two_step.js") },
  { path: "/app/recovery", open: true, guest: true, load: later("pages/recovery.js") },
  { path: "/app/forgot", open: true, guest: true, load: later("pages/forgot.js") },
  { path: "/app/reset", open: true, guest: true, load: later("pages/reset.js") },
  { path: SIGNED_OUT, open: true, load: later("pages/signed_out.js") },
  { path: "/app/help", open: true, load: later("pages/help.js") },
  { path: HOME, wide: true, load: chats },
  { path: "/app/chats/:id", wide: true, load: chats },
  { path: "/app/people/:person", wide: true, load: chats },
  { path: "/app/calls", load: later("pages/calls.js") },
  { path: "/app/notifications", load: later("pages/notifications.js") },
  { path: "/app/settings", load: settings },
  { path: "/app/settings/:section", load: settings },
];

// What surrounds every page: navigation, the connection's state, notices, calls.

function useRoute() {
  const { path, search } = usePlace();
  for (const route of ROUTES) {
    const params = match(route.path, path);
    if (params) return { route, params, query: Object.fromEntries(new URLSearchParams(search)), path };
  }
  return { route: null, params: {}, query: {}, path };
}

// Pages that could not be loaded.
const failed = new Set();

// The module of a page that was loaded last; while another one is loading, that of the page before.
function usePage(route) {
  const [page, setPage] = d(null);
  A(() => {
    let wanted = true;
    if (route) {
      route.load().then(
        (module) => wanted && setPage({ load: route.load, Component: module.default }),
        () => {
          if (!wanted) return;
          // Under its other address, too: a module that it imports is missing, for which only a reload helps.
          if (failed.has(route.load) && parley.status === "online" && canReload()) location.reload();
          failed.add(route.load);
          setPage({ load: route.load, Component: Unavailable });
        },
      );
    }
    return () => {
      wanted = false;
    };
  }, [route?.load]);
  return page;
}

function Unavailable() {
  const reloadOnceOnline = () => parley.on("status", ({ status }) => status === "online" && location.reload());
  const again = () => {
    if (parley.status === "online" || !parley.session.isSignedIn) return location.reload();
    // Without a connection a reload would leave the client.
    reloadOnceOnline();
    return parley.connect();
  };
  // By itself only after a connection was lost: without one so far, this page has just been loaded.
  A(() => (parley.place ? reloadOnceOnline() : undefined), []);
  useTitle(t("This page could not be loaded"));
  return html`<main class="page"><h1 tabindex="-1">${t("This page could not be loaded")}</h1>
    <p><button class="button" onClick=${again}>${t("Try again")}</button></p></main>`;
}

function Missing() {
  useTitle(t("This page doesn't exist"));
  return html`<main class="page"><h1 tabindex="-1">${t("This page doesn't exist")}</h1><p><a href="/app/">${t("Back to {product}", { product: config.product })}</a></p></main>`;
}

// A page that is there at once needs no sign of its loading.
const PATIENCE_MS = 400;

function Waiting() {
  const [isShown, setShown] = d(false);
  A(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown && html`<${Loading} />`;
}

// Before a module that could not be loaded is asked for again.
const LAYER_PAUSE_MS = 5000;
// Of those tries. After that one of the modules that it imports is missing, for which only a reload helps.
const LAYER_TRIES = 3;

// Calls ring on every page; their module is loaded once the first page stands.
function CallLayer({ path }) {
  const [Layer, setLayer] = d(null);
  const [failures, setFailures] = d(0);
  A(() => {
    let timer;
    load("calls/layer.js").then(
      (module) => setLayer(() => module.default),
      () => {
        if (failures >= LAYER_TRIES && parley.status === "online" && canReload()) location.reload();
        else timer = setTimeout(() => setFailures(failures + 1), LAYER_PAUSE_MS);
      },
    );
    return () => clearTimeout(timer);
  }, [failures]);
  return Layer && html`<${Layer} path=${path} />`;
}

function App() {
  const [, redraw] = d(0);
  const user = useStore(app, (state) => state.user);
  const Navigation = useStore(app, (state) => state.Navigation);
  const isBroken = useStore(app, (state) => state.isBroken);
  const { route, params, query, path } = useRoute();
  const page = usePage(route);
  const body = T(null);
  const first = T(true);
  useLinks();
  usePageTitle();
  A(() => onLanguage(() => redraw((count) => count + 1)), []);
  const known = T(null);
  A(() => {
    if (!user?.language) return;
    // Visitors share a demo user: the page stays in the language of each, until they choose another one.
    const isKept = app.getSnapshot().isDemo && !known.current;
    known.current = user.language;
    if (!isKept) useLanguage(user.language, { addresses: config.catalogs });
  }, [user?.language]);

  const signedIn = Boolean(user);
  A(() => {
    if (route && !route.open && !signedIn && !app.getSnapshot().leaving && !parley.session.isSignedIn)
      navigate(`${SIGN_IN}?next=${encodeURIComponent(path)}`, { replace: true });
    if (route?.guest && signedIn && !parley.session.twoStep) navigate(nextPage(query), { replace: true });
    // An address that is not confirmed yet comes first.
    if (route && !route.open && user?.is_verified === false)
      navigate(`/app/verify?email=${encodeURIComponent(user.email)}`, { replace: true });
  }, [route, signedIn, user?.is_verified]);

  // A new page takes the focus, so that a keyboard or a screen reader goes on there.
  A(() => {
    if (!page) return;
    if (!first.current && !body.current?.contains(document.activeElement)) body.current?.querySelector("h1")?.focus();
    first.current = false;
  }, [page]);

  const allowed = route && (route.open || signedIn) && !(route.guest && signedIn);
  let Page = null;
  if (!route) Page = Missing;
  else if (isBroken && !route.open) Page = Unavailable;
  else if (allowed) Page = page?.load === route.load ? page.Component : Waiting;
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t("Skip to the content")}</a>
    <${Banner} />
    <div class=${`shell ${signedIn ? "signed-in" : "signed-out"}`}>
      ${signedIn && Navigation && html`<${Navigation} />`}
      <div class="body" id="content" ref=${body} tabindex="-1">${Page && html`<${Page} params=${params} query=${query} />`}</div>
    </div>
    ${signedIn && html`<${CallLayer} path=${path} />`}
    <${Notices} />`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

export { $, A, App, F, HOME, ICON, Icon, LANGUAGES, LIMITS, Loading, NOTHING, NavLink, Notices, O, OWN_WINDOW, P, ParleyError, Q, Retry, SIGN_IN, T, U, _, ago, app, askBound, b, bytes, config, createStore, d, dateTime, day, dayName, direction, duration, errorText, failed$2 as failed, forThisUser, formIndex, html, isKeeping, j, language, load, loadProfile, navigate, nextPage, notice, number, onLanguage, onNavigation, parley, preferredLanguage, q, randomId, readStored, run, setCatalog, setTheme, shortDay, shortTime, showTheme, signInWindow, signOut, start, stored, storedHere, supported, t, theme, time, tn, useLanguage, usePlace, useRingTitle, useSeconds, useStore, useTitle, useUnreadTitle, w, waitAfter, x$1 as x, x as x$1 };
