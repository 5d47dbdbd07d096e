(function(){
var d=document,$=function(s,r){return Array.prototype.slice.call((r||d).querySelectorAll(s))};
var fs=$('#findings details.f'),q=d.getElementById('q'),all=d.getElementById('all'),shown=d.getElementById('shown'),none=d.querySelector('.none');
function run(){var t=q.value.trim().toLowerCase().split(/\s+/).filter(Boolean),n=0;fs.forEach(function(f){var x=f.textContent.toLowerCase(),ok=t.every(function(w){return x.indexOf(w)>-1});f.hidden=!ok;if(ok)n++});shown.textContent=t.length?n+' of '+fs.length+' shown':'';none.hidden=n>0}
if(q){d.querySelector('.tools').hidden=false;
q.addEventListener('input',run);
all.addEventListener('click',function(){var o=fs.some(function(f){return!f.open});fs.forEach(function(f){f.open=o});all.textContent=o?'Close all':'Open all'});
d.addEventListener('keydown',function(e){var g=e.target.tagName;if(e.key==='/'&&!e.ctrlKey&&!e.metaKey&&!e.altKey&&g!=='INPUT'&&g!=='TEXTAREA'){e.preventDefault();q.focus()}if(e.key==='Escape'&&e.target===q){q.value='';run()}});
}
if(navigator.clipboard&&window.isSecureContext)$('.code').forEach(function(c){var b=d.createElement('button');b.type='button';b.textContent='Copy';b.setAttribute('aria-label','Copy: '+c.querySelector('figcaption').firstChild.textContent.trim());b.addEventListener('click',function(){navigator.clipboard.writeText(c.querySelector('code').textContent).then(function(){b.textContent='Copied';setTimeout(function(){b.textContent='Copy'},1600)})});c.querySelector('figcaption').appendChild(b)});
function open(){var e=location.hash.length>1&&d.getElementById(location.hash.slice(1));if(!e)return;if(e.tagName==='DETAILS')e.open=true;e.scrollIntoView()}
window.addEventListener('hashchange',open);open();
var was=[];
window.addEventListener('beforeprint',function(){was=$('details').filter(function(x){return!x.open});was.forEach(function(x){x.open=true})});
window.addEventListener('afterprint',function(){was.forEach(function(x){x.open=false})});
try{var k='kauditor-theme',v=localStorage.getItem(k),r=v&&/^(auto|light|dark)$/.test(v)&&d.getElementById('t-'+v);if(r)r.checked=true;$('.theme input').forEach(function(i){i.addEventListener('change',function(){localStorage.setItem(k,i.value)})})}catch(e){}
})();
