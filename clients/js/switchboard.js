// Made of src/ by scripts/join-js.py.
class SwitchboardError extends Error{
constructor(code,message=code,retryAfterMs=null){
super(message);
this.name='SwitchboardError';
this.code=code;
this.retryAfterMs=retryAfterMs;
}
}
const frameBytesMax=65_536;
const messageMax=8_388_608;
const faults=new Set([1002,1003,1007,1008,1009,4400]);
const faultPauseMs=30_000;
const slowPauseMs=5_000;
const drainMsMax=60_000;
const answerMs=10_000;
const silenceMs=25_000;
const probeMs=3_000;
const stableMs=10_000;
const hastyMs=1_000;
const onlineMs=500;
const backOffMinMs=100;
const backOffBaseMs=1_000;
const backOffMaxMs=30_000;
function backOffMs(attempt,random=Math.random){
const ceiling=Math.min(backOffMaxMs,backOffBaseMs*2**Math.min(attempt,16));
return Math.round(backOffMinMs+random()*(ceiling-backOffMinMs));
}
class Allowance{
#burst;
#left;
#filledAt=-Infinity;
constructor(burst,perSecond){
this.#burst=this.#left=burst;
this.perSecond=perSecond;
}
refill(){
this.#left=this.#burst;
}
left(now){
this.#left=Math.min(this.#burst,this.#left+Math.max(0,now-this.#filledAt)*this.perSecond/1_000);
this.#filledAt=now;
return Math.floor(this.#left+1e-6);
}
spend(count){
this.#left-=count;
}
whenMs(now,count){
return now+Math.ceil((Math.min(count,this.#burst)-this.#left)*1_000/this.perSecond);
}
}
class Timers{
#at=new Map();
get wakeAt(){
return Math.min(...this.#at.values());
}
get(name){
return this.#at.get(name);
}
set(name,at){
this.#at.set(name,at);
}
delete(...names){
for(const name of names)this.#at.delete(name);
}
due(now){
let[name,at]=[null,now];
for(const[one,time]of this.#at)if(time<=at)[name,at]=[one,time];
this.#at.delete(name);
return name;
}
}
const isOffset=(value)=>Number.isSafeInteger(value)&&value>=0;
function positionOf(value){
const isOne=typeof value?.epoch==='string'&&/^.{1,64}$/.test(value.epoch)&&isOffset(value.offset);
return isOne?{epoch:value.epoch,offset:value.offset}:null;
}
function bounded(value,low,high,other){
return typeof value==='number'&&Number.isFinite(value)?Math.min(high,Math.max(low,value)):other;
}
function errorOf({code,message,retryAfterMs}){
const text=typeof code==='string'&&code!==''?code:'internal';
return new SwitchboardError(text,typeof message==='string'?message:text,bounded(retryAfterMs,0,6e4,null));
}
function messageOf(text){
try{
const message=JSON.parse(text);
if(typeof message.event!=='string')return null;
return{...message,told:typeof message.data==='object'?message.data??{}:{}};
}catch{
return null;
}
}
function operationId(){
const bytes=new Uint8Array(16);
if(globalThis.crypto?.getRandomValues)crypto.getRandomValues(bytes);
else bytes.forEach((_,index)=>{bytes[index]=Math.random()*256;});
return Array.from(bytes,(byte)=>byte.toString(16).padStart(2,'0')).join('');
}
const permanent=new Set(['bad_address','not_found','forbidden','unauthorized','untrusted','not_tls',
'tls_required','wrong_protocol','not_websocket']);
const reason=(code,message)=>({code,message,isPermanent:permanent.has(code)});
const ofStatus=new Map([
[401,['unauthorized','The gateway refused the token or API key']],
[403,['forbidden','The gateway refused the origin or the user']],
[404,['not_found','The address has a path that is not there']],
]);
function reasonOf({code,reason:text='',httpStatus=null,problem=null},wasOpen){
if(problem!==null)return reason(...problem);
if(httpStatus!==null){
const isBusy=httpStatus===429||httpStatus>=500;
const[name,message]=ofStatus.get(httpStatus)??(isBusy?['unavailable','The gateway is not available']
:['not_websocket','No WebSocket was opened, as when a proxy drops the header Upgrade']);
return reason(name,`${message} (HTTP ${httpStatus}).`);
}
if(code===4401)return reason('unauthorized',`The gateway refused the token. ${text}`);
if(code===4403)return reason('forbidden',`The gateway refused the user. ${text}`);
if(code!==0&&code!==1005&&code!==1006)return reason('closed',`The gateway closed: ${code} ${text}`);
if(wasOpen)return reason('lost','The connection was lost.');
return reason('unreachable','No connection came about. A page is not told why; its console may say more.');
}
const dials=[
[/ENOTFOUND|EAI_AGAIN/,'unresolved','The name of the host does not resolve'],
[/CERT|_SIGNATURE|self-signed/,'untrusted','The certificate is not trusted'],
[/EPROTO|ERR_SSL/,'not_tls','The port speaks no TLS; without it an address begins with ws://'],
[/HPE_|Parse\sError/,'wrong_protocol','The port does not speak HTTP'],
[/Invalid\s(Sec-WebSocket|Upgrade)|Server\ssent/,'not_websocket','No WebSocket was opened'],
[/ECONN|EHOST|ENET|ETIMEDOUT|disconnected/,'unreachable','Nothing answers at the address'],
];
function problemOf({message='',error},url){
const text=`${error?.code ?? ''} ${message}`;
const httpStatus=/server\sresponse:\s(\d{3})/.exec(text)?.[1];
if(httpStatus!==undefined)return{httpStatus:Number(httpStatus)};
if(/hang\sup/.test(text)&&!/^wss:/i.test(url)){
return{problem:['tls_required','The server hung up without an answer. A port for TLS does that: try wss://.']};
}
const[,code,sentence]=dials.find(([grammar])=>grammar.test(text))??[];
return code===undefined?{}:{problem:[code,`${sentence}: ${message.trim()}.`]};
}
const callsMax=1_000;
const callsBytesMax=1_048_576;
const inFlightMax=8;
const perSecond=8;
const repeatMs=240_000;
const clockSlackMs=1_000;
const faultsMax=2;
const keepMsMax=86_400_000;
const slowedMs=60_000;
class Calls{
#machine;
#allowance=new Allowance(2*perSecond,perSecond);
#byId=new Map();
#bytes=0;
#pausedUntil=-Infinity;
#slowUntil=-Infinity;
#isLoaded=false;
#isDirty=false;
wakeAt=Infinity;
constructor(machine){
this.#machine=machine;
}
get count(){
return this.#byId.size;
}
get entries(){
return[...this.#byId.values()].filter((call)=>call.isKept).map((call)=>({...call.entry}));
}
add({as,id,event,topic=null,data,lane='default',timeoutMs=60_000,keepMs=null,repeatable=false,
failOffline=false}){
const{now,wall,user,isReady}=this.#machine;
const entry={id,event,topic,data,user,lane,repeatable,createdAt:wall,firstSentAt:null,
expiresAt:keepMs===null?null:wall+Math.min(keepMs,keepMsMax)};
const bytes=new TextEncoder().encode(frameOf(entry)).length;
const refuse=(code,message)=>
this.#machine.say({do:'finish',as,id,event,error:new SwitchboardError(code,message)});
if(this.#byId.has(id))return refuse('conflict');
if(bytes>frameBytesMax||this.#byId.size>=callsMax||this.#bytes+bytes>callsBytesMax){
return refuse('too_large');
}
if(failOffline&&!isReady)return refuse('offline');
this.#insert({entry,as,bytes,isKept:keepMs!==null,phase:'queued',sentAt:null,restUntil:-Infinity,
deadline:now+(keepMs===null?timeoutMs:Math.min(keepMs,keepMsMax)),attempt:0,faults:0});
if(keepMs!==null&&user!==null)this.#keep(this.#byId.get(id));
}
cancel(as){
const call=[...this.#byId.values()].find((one)=>one.as===as&&as!==null);
if(call===undefined)return;
if(call.entry.firstSentAt===null&&call.phase!=='marking')this.#fail(call,'cancelled');
else this.#detach(call,'cancelled');
}
remove(id){
const call=this.#byId.get(id);
if(call!==undefined)this.#fail(call,'cancelled');
}
stop(){
for(const call of[...this.#byId.values()]){
if(!call.isKept||call.entry.user===null)this.#fail(call,'stopped');
else if(call.as!==null)this.#detach(call,'stopped');
}
}
disown(){
for(const call of[...this.#byId.values()]){
if(call.entry.user===null)this.#fail(call,'stopped');
}
}
load(entries){
const{now,wall}=this.#machine;
const later=[...this.#byId.values()];
const left=entries.filter((entry)=>!this.#byId.has(entry.id)).sort((a,b)=>a.createdAt-b.createdAt);
this.#byId=new Map();
for(const entry of left.slice(0,callsMax)){
const bytes=frameOf(entry).length;
if(this.#bytes+bytes>callsBytesMax)break;
this.#insert({entry,as:null,bytes,isKept:true,phase:'queued',sentAt:null,restUntil:-Infinity,
deadline:now+Math.min(keepMsMax,entry.expiresAt-wall),attempt:0,faults:0});
}
for(const call of later)this.#byId.set(call.entry.id,call);
this.#isLoaded=this.#isDirty=true;
}
kept(id,{isKept,isLeft=false}){
const call=this.#byId.get(id);
if(call?.phase!=='keeping')return;
if(!isKept)return this.#unkept(call,isLeft);
call.phase='queued';
this.#isDirty=true;
}
marked(id,{isKept,isLeft=false,firstSentAt=null}){
const call=this.#byId.get(id);
if(call?.phase!=='marking')return;
call.phase='queued';
this.#isDirty=true;
if(!isKept)return this.#unkept(call,isLeft);
if(firstSentAt===null){
call.isKept=false;
return this.#uncertain(call);
}
call.entry.firstSentAt=firstSentAt;
if(this.#isTooOld(call))this.#uncertain(call);
else this.#send(call);
}
answered(ref,answer){
const call=this.#byId.get(ref);
if(call?.phase==='sent')this.#finish(call,{answer});
}
failed(ref,told){
const call=this.#byId.get(ref);
if(call?.phase!=='sent')return false;
const{now,random}=this.#machine;
const error=errorOf(told);
this.#isDirty=true;
if(error.code==='rate_limited'){
call.phase='queued';
this.#pausedUntil=now+bounded(error.retryAfterMs,20,60_000,1_000);
}else if(error.code==='unavailable'){
call.phase='queued';
call.restUntil=now+backOffMs(call.attempt++,random);
}else{
this.#finish(call,{error});
}
return true;
}
ready(){
this.#isDirty=true;
for(const call of this.#byId.values()){
if(call.entry.user!==null)continue;
call.entry.user=this.#machine.user;
if(call.isKept)this.#keep(call);
}
}
lost(isFault){
this.#isDirty=true;
for(const call of[...this.#byId.values()]){
if(call.phase==='marking')call.phase='queued';
if(call.phase!=='sent')continue;
call.phase='queued';
call.faults+=isFault?1:0;
const isNamed=call.entry.user!==''||call.entry.repeatable;
if(!isNamed||call.faults>=faultsMax)this.#uncertain(call);
}
}
slow(){
this.#slowUntil=this.#machine.now+slowedMs;
}
pump(){
const{now,isReady,isStopped}=this.#machine;
if(!this.#isDirty&&now<this.wakeAt)return;
this.#isDirty=false;
this.wakeAt=Infinity;
for(const call of[...this.#byId.values()]){
if(call.deadline<=now)this.#late(call);
else if(!isStopped||!call.isKept)this.#wake(call.deadline);
}
if(isReady&&this.#isLoaded)this.#sendWhatMay(now);
}
#sendWhatMay(now){
if(this.#pausedUntil>now)return this.#wake(this.#pausedUntil);
this.#allowance.perSecond=now<this.#slowUntil?perSecond/2:perSecond;
const busy=new Set();
let inFlight=0;
for(const{phase,entry}of this.#byId.values()){
if(phase!=='sent'&&phase!=='marking')continue;
busy.add(entry.lane);
inFlight+=1;
}
for(const call of[...this.#byId.values()]){
const{lane,user}=call.entry;
if(user!==this.#machine.user||busy.has(lane))continue;
if(inFlight>=inFlightMax)return;
if(this.#isTooOld(call)){
this.#uncertain(call);
continue;
}
busy.add(lane);
if(call.phase==='keeping')continue;
if(call.restUntil>now){
this.#wake(call.restUntil);
continue;
}
if(this.#allowance.left(now)<1)return this.#wake(this.#allowance.whenMs(now,1));
this.#allowance.spend(1);
inFlight+=1;
this.#mark(call);
}
}
#insert(call){
this.#byId.set(call.entry.id,call);
this.#bytes+=call.bytes;
this.#isDirty=true;
}
#keep(call){
call.phase='keeping';
this.#machine.say({do:'keep',id:call.entry.id,entry:{...call.entry}});
}
#mark(call){
if(!call.isKept){
call.entry.firstSentAt??=this.#machine.wall;
return this.#send(call);
}
call.phase='marking';
this.#machine.say({do:'mark',id:call.entry.id,firstSentAt:call.entry.firstSentAt??this.#machine.wall});
}
#send(call){
call.sentAt??=this.#machine.now;
call.phase='sent';
this.#machine.sendText(frameOf(call.entry));
}
#isTooOld({entry,sentAt}){
if(entry.firstSentAt===null||entry.repeatable)return false;
const{now,wall}=this.#machine;
const age=Math.max(sentAt===null?0:now-sentAt,wall-entry.firstSentAt);
return age>=repeatMs||wall<entry.firstSentAt-clockSlackMs;
}
#late(call){
if(!call.isKept)this.#fail(call,'timeout','There was no answer.');
else if(call.entry.firstSentAt===null)this.#fail(call,'expired');
else this.#uncertain(call);
}
#unkept(call,isLeft){
if(isLeft)this.#uncertain(call);
else this.#fail(call,'storage');
}
#uncertain(call){
this.#fail(call,'uncertain','It may have happened.');
}
#fail(call,code,message){
this.#finish(call,{error:new SwitchboardError(code,message)});
}
#detach(call,code){
const{as,entry:{id,event}}=call;
call.as=null;
this.#machine.say({do:'finish',as,id,event,error:new SwitchboardError(code)});
}
#finish(call,outcome){
const{id,event}=call.entry;
this.#byId.delete(id);
this.#bytes-=call.bytes;
this.#isDirty=true;
if(call.isKept)this.#machine.say({do:'forget',id});
if(call.as!==null||call.isKept)this.#machine.say({do:'finish',as:call.as,id,event,...outcome});
}
#wake(at){
this.wakeAt=Math.min(this.wakeAt,at);
}
}
function frameOf({id,event,topic,data}){
const[name,ref]=[JSON.stringify(event),JSON.stringify(id)];
if(topic===null)return`{"event":${name},"data":${data},"ref":${ref}}`;
return`{"event":"publish","topic":${JSON.stringify(topic)},"data":{"event":${name},"data":${data},"id":${ref}},`
+`"ref":${ref}}`;
}
function entryOf(value){
const isText=(text)=>typeof text==='string'&&text!=='';
const isTime=(time)=>Number.isFinite(time);
try{
const{id,event,topic,data,user,lane,repeatable,createdAt,firstSentAt,expiresAt}=value;
const isOne=isText(id)&&isText(event)&&(topic===null||isText(topic))&&isText(data)
&&typeof user==='string'&&isText(lane)&&typeof repeatable==='boolean'&&isTime(createdAt)
&&(firstSentAt===null||isTime(firstSentAt))&&isTime(expiresAt);
if(!isOne)return null;
const entry={id,event,topic,data:JSON.stringify(JSON.parse(data)),user,lane,repeatable,createdAt,
firstSentAt,expiresAt};
return frameOf(entry).length<=frameBytesMax?entry:null;
}catch{
return null;
}
}
const joinsAtOnceMax=64;
const joinsPerSecond=18;
const heldMax=1_000;
const sinceMax=100;
const metasMax=1_000;
const lingerMs=2_000;
const retryable=new Set(['unavailable','rate_limited','conflict','internal']);
const gapReasons=new Set(['missed','reset','conflated']);
const grammar=/^[a-z][a-z0-9-]{0,31}:[A-Za-z0-9._~:-]{1,200}$/;
const isTopic=(name)=>typeof name==='string'&&grammar.test(name);
class Topics{
#machine;
#allowance=new Allowance(joinsAtOnceMax,joinsPerSecond);
#byName=new Map();
#names=new Map();
#metas=new Map();
#isDirty=false;
wakeAt=Infinity;
constructor(machine){
this.#machine=machine;
}
get count(){
return this.#byName.size;
}
join(reader,name,{since=null,presence=false,isCurrent=false}={}){
let topic=this.#byName.get(name);
if(topic===undefined){
topic={name,readers:new Set(),late:new Set(),position:positionOf(since),isLive:false,ask:'wanted',
ref:null,attempt:0,restUntil:-Infinity,lingerUntil:Infinity,presence,held:[],stateAt:null,
since:null,meta:this.#metas.get(name)??null};
this.#byName.set(name,topic);
this.#metas.delete(name);
}else topic.late.add(reader);
topic.readers.add(reader);
this.#names.set(reader,name);
this.#isDirty=true;
if(presence)topic.presence=true;
if(!topic.isLive)return;
this.#greet(topic,reader,isCurrent);
if(presence)topic.ask='wanted';
}
leave(reader){
const topic=this.#byName.get(this.#names.get(reader));
this.#names.delete(reader);
topic?.late.delete(reader);
if(!topic?.readers.delete(reader)||topic.readers.size>0)return;
topic.lingerUntil=this.#machine.now+lingerMs;
this.#isDirty=true;
}
resynchronise(name,isFresh=true){
const topic=this.#byName.get(name);
if(topic===undefined||topic.ask==='leaving')return;
Object.assign(topic,{isFresh,ask:'wanted',held:[]});
this.#isDirty=true;
}
track(name,meta){
const topic=this.#byName.get(name);
if(topic===undefined)return this.#remember(name,meta);
topic.meta=meta;
if(topic.isLive)this.#sayMeta(topic);
}
#remember(name,meta){
this.#metas.delete(name);
if(meta===null)return;
if(this.#metas.size>=metasMax)this.#metas.delete(this.#metas.keys().next().value);
this.#metas.set(name,meta);
}
stop(error){
for(const reader of this.#names.keys())this.#machine.say({do:'end',reader,error});
this.#byName.clear();
this.#names.clear();
this.#metas.clear();
}
forget(){
for(const topic of this.#byName.values()){
Object.assign(topic,{position:null,state:undefined,since:null,meta:null});
}
this.#metas.clear();
}
ready(){
this.#allowance.refill();
this.#isDirty=true;
}
lost(){
this.#isDirty=true;
for(const topic of[...this.#byName.values()]){
const wasLive=topic.isLive;
Object.assign(topic,{isLive:false,ask:'wanted',ref:null,attempt:0,restUntil:-Infinity,held:[]});
if(topic.readers.size===0)this.#byName.delete(topic.name);
else if(wasLive)this.#tell(topic,{type:'pending'});
}
}
subscribed(name,ref,told){
const topic=this.#byName.get(name);
if(topic===undefined||topic.ask!=='asked'||topic.ref!==ref)return;
const now=positionOf(told);
if(now===null)return this.#again(topic,new SwitchboardError('internal'));
const before=topic.position;
const isRecovered=told.recovered===true&&before?.epoch===now.epoch;
const{held}=topic;
this.#isDirty=true;
Object.assign(topic,{isLive:true,isFresh:false,ask:'no',attempt:0,held:[]});
if(isRecovered){
topic.held=held.filter(({offset})=>offset>now.offset);
this.#tell(topic,{type:'live',recovered:true,position:before});
for(const reader of topic.late)this.#greet(topic,reader);
}else{
Object.assign(topic,{position:now,state:told.state,stateAt:now,since:[]});
this.#tellLoss(topic,before,now);
topic.late.clear();
this.#tell(topic,{type:'live',recovered:false,state:told.state,position:now});
}
for(const{event,data,offset}of held){
if(topic.isLive&&!(isRecovered&&offset!==undefined))this.#deliver(topic,event,data,offset);
}
if(topic.meta!==null&&topic.isLive)this.#sayMeta(topic);
}
unsubscribed(name,ref){
const topic=this.#byName.get(name);
if(topic===undefined)return;
if(topic.ask==='leaving'){
if(topic.ref!==ref)return;
topic.ask='wanted';
topic.isLive=false;
this.#isDirty=true;
if(topic.readers.size===0)this.#byName.delete(name);
}else if(ref===undefined&&topic.isLive){
this.#again(topic,new SwitchboardError('unavailable'));
}
}
failed(ref,name,told){
const error=errorOf(told);
const concerned=[...this.#byName.values()].filter((topic)=>
(ref===undefined?topic.name===name&&topic.ask!=='leaving'
:topic.ref===ref&&(name===undefined||topic.name===name)));
for(const topic of concerned){
if(topic.ask==='leaving'){
this.#byName.delete(topic.name);
}else if(ref!==undefined&&topic.ask!=='asked'){
continue;
}else if(retryable.has(error.code)){
this.#again(topic,error);
}else if(ref!==undefined&&topic.isLive){
topic.ask='no';
topic.since??=[];
for(const reader of topic.late)this.#greet(topic,reader);
}else{
this.#refuse(topic,error);
}
}
return concerned.length>0;
}
gap(name,told){
const topic=this.#byName.get(name);
const now=positionOf(told);
if(topic?.ask==='asked'&&!topic.isLive)this.resynchronise(name,topic.isFresh);
if(!topic?.isLive)return;
const before=topic.position;
if(topic.state!==undefined)topic.since=null;
if(now===null)return this.#tell(topic,{type:'gap',reason:'followed',missed:null,position:before});
const isOneLog=before.epoch===now.epoch;
const missed=isOneLog&&now.offset>before.offset?now.offset-before.offset:null;
if(!isOneLog||missed!==null)topic.position=now;
if(!isOneLog)topic.held=[];
const reason=gapReasons.has(told.reason)?told.reason:'missed';
this.#tell(topic,{type:'gap',reason,missed,position:topic.position});
}
event(name,event,data,offset){
const topic=this.#byName.get(name);
if(topic===undefined||(offset!==undefined&&!isOffset(offset)))return;
if(topic.isLive)return this.#deliver(topic,event,data,offset);
if(topic.ask!=='asked')return;
topic.held.push({event,data,offset});
if(topic.held.length>heldMax)this.#again(topic,new SwitchboardError('internal'));
}
presence(name,told){
const topic=this.#byName.get(name);
if(!topic?.presence||!topic.isLive)return;
const list=(value)=>
(Array.isArray(value)?value.filter((one)=>typeof one?.id==='string'):[]);
this.#tell(topic,Array.isArray(told.members)?{type:'presence',members:list(told.members)}
:{type:'presence',joins:list(told.joins),updates:list(told.updates),leaves:list(told.leaves)});
}
pump(){
const{now,isReady}=this.#machine;
if(!this.#isDirty&&now<this.wakeAt)return;
this.#isDirty=false;
this.wakeAt=Infinity;
const due=[];
for(const topic of[...this.#byName.values()]){
if(topic.readers.size===0&&topic.lingerUntil<=now)this.#part(topic);
else if(topic.readers.size===0)this.#wake(topic.lingerUntil);
if(topic.ask!=='wanted'||topic.readers.size===0)continue;
if(topic.restUntil>now)this.#wake(topic.restUntil);
else due.push(topic);
}
if(!isReady||due.length===0)return;
const asked=due.splice(0,this.#allowance.left(now));
if(asked.length>0)this.#ask(asked);
if(due.length>0)this.#wake(this.#allowance.whenMs(now,Math.min(due.length,joinsPerSecond)));
}
#part(topic){
if(!this.#machine.isReady||(!topic.isLive&&topic.ask==='wanted'))return this.#byName.delete(topic.name);
if(topic.ask==='asked'||topic.ask==='leaving')return;
[topic.ask,topic.isLive,topic.ref]=['leaving',false,this.#machine.nextRef()];
this.#machine.send({event:'unsubscribe',data:{topic:topic.name},ref:topic.ref});
}
#ask(topics){
const ref=this.#machine.nextRef();
const wanted=topics.map((topic)=>{
[topic.ask,topic.ref,topic.held]=['asked',ref,[]];
const one={topic:topic.name};
if(topic.position!==null&&!topic.isFresh)one.since=topic.position;
if(topic.presence)one.presence=true;
return one;
});
this.#allowance.spend(topics.length);
this.#machine.send({event:'subscribe',data:wanted.length===1?wanted[0]:{topics:wanted},ref});
}
#again(topic,error){
const{now,random}=this.#machine;
const pause=Math.max(error.retryAfterMs??0,backOffMs(topic.attempt,random));
Object.assign(topic,{isLive:false,ask:'wanted',held:[],restUntil:now+pause});
topic.attempt+=1;
this.#isDirty=true;
this.#tell(topic,{type:'pending',error});
}
#refuse(topic,error){
for(const reader of topic.readers){
this.#names.delete(reader);
this.#machine.say({do:'end',reader,error});
}
this.#byName.delete(topic.name);
}
#deliver(topic,event,data,offset){
if(offset===undefined)return this.#tell(topic,{type:'event',event,data,position:null});
const{epoch,offset:last}=topic.position;
if(offset<=last)return;
if(offset>last+1){
Object.assign(topic,{isLive:false,ask:'wanted',held:[]});
this.#isDirty=true;
return this.#tell(topic,{type:'pending'});
}
topic.position={epoch,offset};
const update={type:'event',event,data,position:topic.position};
if(topic.state!==undefined&&topic.since?.push(update)>sinceMax)topic.since=null;
this.#tell(topic,update);
if(topic.held[0]?.offset<=offset+1){
const next=topic.held.shift();
this.#deliver(topic,next.event,next.data,next.offset);
}
}
#tellLoss(topic,before,now){
if(before===null||(before.epoch===now.epoch&&before.offset===now.offset))return;
const isOneLog=before.epoch===now.epoch;
const missed=isOneLog&&now.offset>before.offset?now.offset-before.offset:null;
this.#tell(topic,{type:'gap',reason:isOneLog?'notRecovered':'reset',missed,position:now});
}
#greet(topic,reader,isCurrent=false){
const{since,state,stateAt,position}=topic;
if(since===null||(isCurrent&&since.length>0))return this.resynchronise(topic.name);
topic.late.delete(reader);
const live={type:'live',recovered:false,state,position:since.length>0?stateAt:position};
for(const update of[live,...since])this.#machine.say({do:'tell',reader,update});
return undefined;
}
#tell(topic,update){
for(const reader of topic.readers){
if(update.type==='pending'||!topic.late.has(reader))this.#machine.say({do:'tell',reader,update});
}
}
#sayMeta({name,meta}){
const ref=this.#machine.nextRef();
if(meta===null)return this.#machine.send({event:'untrack',data:{topic:name},ref});
return this.#machine.sendText(`{"event":"track","data":{"topic":"${name}","meta":${meta}},"ref":${ref}}`);
}
#wake(at){
this.wakeAt=Math.min(this.wakeAt,at);
}
}
const idGrammar=/^[A-Za-z0-9._~:-]{1,128}$/;
const fail=(message)=>new SwitchboardError('bad_request',message);
function textOf(value){
try{
return String(value);
}catch{
return'a value without a text';
}
}
function jsonOf(value){
const text=JSON.stringify(value);
if(text===undefined)throw fail('This is no JSON value.');
return text;
}
function topicOf(name,options){
if(!isTopic(name))throw fail(`${textOf(name)} is no topic.`);
const{since,presence,latestBy,signal}=options??{};
if(latestBy&&typeof latestBy!=='function')throw fail('latestBy is no function.');
return{since:positionOf(since),presence:Boolean(presence),latestBy,signal:signal??undefined};
}
function metaOf(name,meta){
if(meta===null)return null;
const text=jsonOf(meta);
if(bytesOf(text)+name.length+256>frameBytesMax)throw new SwitchboardError('too_large');
return text;
}
function callOf(topic,event,data,options){
const{id=operationId(),signal,lane='default',timeoutMs=60_000,keepMs=null,repeatable=false,
failOffline=false}=options??{};
if(topic!==null&&!isTopic(topic))throw fail(`${textOf(topic)} is no topic.`);
if(typeof event!=='string')throw fail('The name of a command or event is a text.');
const name=String(id);
if(!idGrammar.test(name))throw fail('An id has 1 to 128 of A-Z a-z 0-9 . _ ~ : -.');
const ms=(value)=>{
if(typeof value!=='number'||Number.isNaN(value))throw fail('A time is a number of milliseconds.');
return Math.max(0,value);
};
return{topic,event,id:name,signal:signal??undefined,lane:String(lane),timeoutMs:ms(timeoutMs),
keepMs:keepMs===null||keepMs===undefined?null:ms(keepMs),repeatable:Boolean(repeatable),
failOffline:Boolean(failOffline),data:data===undefined?'{}':jsonOf(data)};
}
const bytesOf=(text)=>new TextEncoder().encode(text).length;
const storageMs=10_000;
function inTime(work){
let timer=null;
const late=new Promise((_,reject)=>{
const error=Object.assign(new Error('The storage does not answer.'),{isLate:true});
timer=setTimeout(()=>reject(error),storageMs);
});
return Promise.race([Promise.resolve().then(work),late]).finally(()=>clearTimeout(timer));
}
class Keeper{
#storage;
#warn;
#bornAt;
#last;
constructor(storage,{warn,wall,loaded}){
this.#storage=storage;
this.#warn=(error)=>warn(`Switchboard: storage: ${textOf(error)}`);
this.#bornAt=wall();
this.#last=this.#load(loaded);
}
keep(entry,done){
this.#then(entry.id,(storage)=>storage.put(entry),done);
}
mark({id,firstSentAt},done){
this.#then(id,async(storage)=>{
const stored=entryOf(await storage.get(id));
if(stored===null)return{firstSentAt:null};
const earliest=Math.min(stored.firstSentAt??firstSentAt,firstSentAt);
await storage.put({...stored,firstSentAt:earliest});
return{firstSentAt:earliest};
},done);
}
forget(id){
this.#then(id,(storage)=>storage.remove(id),()=>{});
}
#then(id,work,done){
if(this.#storage===null)return done({isKept:true});
this.#last=this.#last.then(async()=>done(await this.#tried(id,work)));
return undefined;
}
async #tried(id,work){
try{
const more=await inTime(()=>work(this.#storage));
return{isKept:true,firstSentAt:more?.firstSentAt};
}catch(error){
this.#warn(error);
return{isKept:false,isLeft:error?.isLate===true||!await this.#removes(id)};
}
}
async #removes(id){
try{
await inTime(()=>this.#storage.remove(id));
return true;
}catch(error){
this.#warn(error);
return false;
}
}
async #load(loaded){
await null;
if(this.#storage===null)return loaded([]);
const reading=this.#read();
try{
loaded(await inTime(()=>reading));
}catch(error){
this.#warn(error);
loaded([]);
const before=(all)=>all.filter(({createdAt})=>createdAt<this.#bornAt);
if(error?.isLate)reading.then((all)=>loaded(before(all)),()=>{});
}
return undefined;
}
async #read(){
const entries=[];
for(const value of await this.#storage.load()??[]){
const entry=entryOf(value);
if(entry===null)await this.#spoilt(value);
else entries.push(entry);
}
return entries;
}
async #spoilt(value){
try{
const{id}=value;
this.#warn(`the entry ${textOf(id)} is spoilt, and is removed`);
await inTime(()=>this.#storage.remove(id));
}catch(error){
this.#warn(error);
}
}
}
const freshShare=0.8;
const askMs=60_000;
const renewMs=1_000;
class Tokens{
kind='none';
current=null;
isRefused=false;
asking=null;
#renewedAt=-Infinity;
#asks=0;
set(kind,text,now){
this.kind=kind;
this.asking=null;
this.#take(kind==='fixed'?text:null,now);
}
isEnough(now){
if(this.kind!=='source')return true;
return this.current!==null&&!this.isRefused&&(this.current.isUnused||this.current.freshUntil>now);
}
renewAt(now){
const at=Math.max(now,this.#renewedAt+renewMs);
if(at===now)this.#renewedAt=now;
return at;
}
ask(){
if(this.asking!==null)return null;
this.asking=++this.#asks;
return{do:'token',id:this.asking,reason:this.isRefused?'refused':this.current?'expiring':'first'};
}
got(text,now){
this.asking=null;
const isOne=typeof text==='string'&&text!=='';
if(isOne)this.#take(text,now);
return isOne;
}
#take(text,now){
this.isRefused=false;
const{user,lifeMs}=factsOf(text);
this.current=text===null?null:{text,user,isUnused:true,freshUntil:now+freshShare*lifeMs};
}
}
function factsOf(token){
try{
const text=atob(token.split('.')[1].replaceAll('-','+').replaceAll('_','/'));
const{sub,exp,iat}=JSON.parse(text);
return{user:typeof sub==='string'?sub:null,lifeMs:exp>iat?(exp-iat)*1_000:0};
}catch{
return{user:null,lifeMs:0};
}
}
class Machine{
wakeAt=Infinity;
now=0;
wall=0;
user=null;
isReady=false;
#phase='stopped';
#tokens=new Tokens();
#tokenGen=null;
#refusals=0;
#gen=0;
#hasSocket=false;
#authRef=null;
#readyAt=null;
#attempt=0;
#lastClose=null;
#reason=null;
#dialledAt=-Infinity;
#refs=0;
#told='';
#actions=[];
#timers=new Timers();
constructor({random=Math.random}={}){
this.random=random;
this.topics=new Topics(this);
this.calls=new Calls(this);
}
take(input,now,wall){
const actions=this.#actions=[];
this.now=Math.max(this.now,now);
this.wall=wall;
if(input.type==='text'&&this.#isMine(input))this.#heard();
this.#runDue();
this.#handle(input);
if(this.#phase==='idle'&&this.#isWanted)this.#dial();
const{isStopped}=this;
if(!isStopped)this.topics.pump();
this.calls.pump();
const{status}=this;
const told=JSON.stringify({...status,retryInMs:0,pendingCalls:0});
if(told!==this.#told)this.say({do:'status',status});
this.#told=told;
this.wakeAt=isStopped?this.calls.wakeAt
:Math.min(this.topics.wakeAt,this.calls.wakeAt,this.#timers.wakeAt);
return actions;
}
get status(){
const at=this.#timers.get('dial');
return{phase:this.#phase,isReady:this.isReady,attempt:this.#attempt,lastClose:this.#lastClose,
reason:this.#reason,retryInMs:at===undefined?null:Math.max(0,at-this.now),userId:this.user||null,
pendingCalls:this.calls.count};
}
get isStopped(){
return this.#phase==='stopped';
}
say(action){
this.#actions.push(action);
}
send(message){
this.sendText(JSON.stringify(message));
}
sendText(text){
this.say({do:'send',gen:this.#gen,text});
}
nextRef(){
return++this.#refs;
}
#handle(input){
switch(input.type){
case'start':return this.#start();
case'stop':return this.#stop();
case'setToken':return this.#setToken(input);
case'token':return this.#gotToken(input);
case'opened':return this.#isMine(input)&&this.#phase==='connecting'&&this.#opened();
case'text':return this.#isMine(input)&&this.#text(input.text);
case'closed':return this.#isMine(input)&&this.#closed(input);
case'join':return this.topics.join(input.reader,input.topic,input);
case'leave':return this.topics.leave(input.reader);
case'resynchronise':return this.topics.resynchronise(input.topic);
case'track':return this.topics.track(input.topic,input.meta);
case'call':return this.calls.add(input);
case'cancel':return this.calls.cancel(input.as);
case'remove':return this.calls.remove(input.id);
case'loaded':return this.calls.load(input.entries);
case'kept':return this.calls.kept(input.id,input);
case'marked':return this.calls.marked(input.id,input);
case'offline':return this.#probe(probeMs);
case'online':return this.#hurry(onlineMs);
case'visible':return this.#hurry(0);
case'hide':return this.#phase!=='stopped'&&this.#phase!=='unauthorized'&&this.#end('suspended');
default:return undefined;
}
}
get #isWanted(){
return this.topics.count+this.calls.count>0;
}
#isMine({gen}){
return this.#hasSocket&&gen===this.#gen;
}
#start(){
if(this.#phase!=='stopped'&&this.#phase!=='suspended')return;
this.#attempt=this.#refusals=0;
this.#dial();
}
#stop(){
if(this.#phase==='stopped')return;
this.topics.stop(new SwitchboardError('stopped'));
this.calls.stop();
this.#end('stopped');
}
#end(phase){
this.#hangUp();
this.#timers=new Timers();
this.#tokens.asking=null;
this.#phase=phase;
if(phase!=='unauthorized')this.#reason=null;
}
#hangUp(){
if(this.#hasSocket)this.say({do:'close',gen:this.#gen,code:1000});
this.#forgetSocket(false);
}
#setToken({kind,token=null}){
const tokens=this.#tokens;
const isFirst=tokens.kind==='none'&&this.user===null;
tokens.set(kind,token,this.now);
this.#refusals=0;
if(this.isReady&&kind==='fixed'&&this.user!==''&&tokens.current.user===this.user){
return this.#authenticate();
}
if(!isFirst)this.calls.disown();
if(this.#phase==='stopped'||this.#phase==='suspended')return;
this.#hangUp();
this.#dial();
}
#dial(){
this.#timers.delete('dial','drain','renew');
this.#dialledAt=this.now;
this.#phase='connecting';
if(this.#tokens.isEnough(this.now))this.#open();
else this.#ask();
}
#open(){
this.#gen+=1;
this.#hasSocket=true;
this.#timers.set('connect',this.now+answerMs);
this.say({do:'open',gen:this.#gen});
}
#ask(){
const request=this.#tokens.ask();
if(request===null)return;
this.#timers.set('ask',this.now+askMs);
this.say(request);
}
#gotToken({id,token}){
if(id!==this.#tokens.asking||id===null)return;
this.#timers.delete('ask');
const isWaiting=this.#phase==='connecting'&&!this.#hasSocket;
if(!this.#tokens.got(token,this.now)){
if(isWaiting){
this.#reason=reason('token_source','The source of tokens failed, or gave none.');
this.#pause(this.#backOff());
}else if(this.isReady)this.#timers.set('renew',this.now+this.#backOff());
}else if(isWaiting){
this.#open();
}else if(this.isReady&&this.#tokenGen===this.#gen){
this.#authenticate();
}
}
#opened(){
this.#timers.delete('connect');
this.#heard();
if(this.#tokens.current===null)return this.#ready('');
this.#phase='authenticating';
this.#authenticate();
}
#authenticate(){
this.#authRef=this.nextRef();
this.#tokens.current.isUnused=false;
this.#timers.set('authenticate',this.now+answerMs);
this.send({event:'authenticate',data:{token:this.#tokens.current.text},ref:this.#authRef});
}
#authenticated(ref,{userId}){
if(this.#authRef===null||ref!==this.#authRef)return;
this.#authRef=null;
this.#timers.delete('authenticate');
if(!this.isReady)this.#ready(typeof userId==='string'?userId:'');
}
#ready(user){
if(this.user!==null&&this.user!==user)this.topics.forget();
this.user=user;
this.isReady=true;
this.#reason=null;
this.#phase='open';
this.#readyAt=this.now;
this.topics.ready();
this.calls.ready();
}
#refused(){
this.#tokens.isRefused=true;
this.#refusals+=1;
if(this.#tokens.kind!=='source'||this.#refusals>1)return this.#end('unauthorized');
this.#reason=null;
this.#dial();
}
#closed(end){
const{code,reason:text='',httpStatus=null}=end;
if(this.#readyAt!==null&&this.now-this.#readyAt>=stableMs)this.#attempt=this.#refusals=0;
this.#lastClose={code,reason:text,httpStatus};
const leaveAt=this.#timers.get('drain');
this.#reason=leaveAt===undefined?reasonOf(end,this.isReady):null;
const isFault=faults.has(code);
this.#forgetSocket(isFault);
if(code===4408&&this.user===''&&!this.#isWanted)return this.#end('idle');
if(code===4401||httpStatus===401)return this.#refused();
if(code===4403||httpStatus===403)return this.#end('unauthorized');
if(isFault){
this.say({do:'log',text:`closed: ${code} ${text}`});
return this.#pause(faultPauseMs);
}
if(leaveAt!==undefined)return this.#pauseUntil(leaveAt);
if(code===4429){
this.calls.slow();
return this.#pause(slowPauseMs+this.#backOff());
}
this.#pause(code===4410?backOffMs(0,this.random):this.#backOff());
}
#backOff(){
return backOffMs(this.#attempt++,this.random);
}
#forgetSocket(isFault){
this.#timers.delete('connect','authenticate','silence','probe','drain','renew');
this.#hasSocket=this.isReady=false;
this.#authRef=this.#readyAt=null;
this.topics.lost();
this.calls.lost(isFault);
}
#pause(ms){
this.#phase='waiting';
this.#timers.set('dial',this.now+ms);
}
#pauseUntil(at){
this.#pause(Math.max(at,this.#dialledAt+hastyMs)-this.now);
}
#drop(end){
this.say({do:'close',gen:this.#gen,code:1000});
this.#closed(end);
}
#probe(ms){
if(!this.isReady||this.#timers.get('probe')!==undefined)return;
this.#timers.set('probe',this.now+ms);
this.send({event:'ping'});
}
#hurry(withinMs){
if(this.#phase==='suspended')return this.#dial();
if(this.#phase!=='waiting')return this.#probe(probeMs);
const at=Math.max(this.now+Math.round(this.random()*withinMs),this.#dialledAt+hastyMs);
if(at<this.#timers.get('dial'))this.#timers.set('dial',at);
this.#runDue();
}
#heard(){
this.#timers.delete('probe');
this.#timers.set('silence',this.now+silenceMs);
}
#text(text){
if(text.length>messageMax)return this.#drop({code:1009,reason:'too large'});
const message=messageOf(text);
if(message===null)return this.say({do:'log',text:'no message'});
const{event,topic,ref,offset,told}=message;
switch(event){
case'pong':case'warning':return undefined;
case'authenticated':return this.#authenticated(ref,told);
case'subscribed':return this.topics.subscribed(topic??told.topic,ref,told);
case'unsubscribed':return this.topics.unsubscribed(topic??told.topic,ref);
case'ack':return this.calls.answered(ref,message.data);
case'gap':return this.topics.gap(topic,told);
case'presence':return this.topics.presence(topic,told);
case'draining':return this.#draining(told);
case'token:expiring':return this.#expiring();
case'error':return this.#failed(ref,topic,told);
default:return this.topics.event(topic,event,message.data,offset);
}
}
#draining({reconnectAfterMs}){
if(this.isReady)this.#phase='draining';
this.#timers.set('drain',this.now+bounded(reconnectAfterMs,0,drainMsMax,1_000));
}
#expiring(){
if(this.#tokens.kind!=='source'||!this.isReady||this.#tokens.asking!==null)return;
const at=this.#tokens.renewAt(this.now);
if(this.now<at)return this.#timers.set('renew',at);
if(this.#tokens.current?.isUnused)return this.#authenticate();
this.#tokenGen=this.#gen;
this.#ask();
}
#failed(ref,topic,told){
if(this.#authRef!==null&&ref===this.#authRef){
const{message}=errorOf(told);
const isRefused=told.code==='unauthorized';
this.#lastClose={code:1000,reason:message,httpStatus:null};
this.#reason=isRefused?reasonOf({code:4401,reason:message}):reason('unavailable',message);
this.#hangUp();
if(isRefused)this.#refused();
else this.#pause(this.#backOff());
}else if(!this.calls.failed(ref,told)){
if(!this.topics.failed(ref,topic,told))this.say({do:'log',text:`error ${told.code}`});
}
}
#runDue(){
for(let name=this.#timers.due(this.now);name!==null;name=this.#timers.due(this.now))this.#due(name);
}
#due(name){
switch(name){
case'dial':return this.#dial();
case'connect':case'authenticate':case'probe':
return this.#drop({code:0,reason:'no answer',problem:['no_answer','The gateway does not answer.']});
case'silence':return this.#probe(answerMs);
case'renew':return this.#expiring();
case'ask':return this.#gotToken({id:this.#tokens.asking,token:null});
default:
this.#hangUp();
return this.#pauseUntil(this.now);
}
}
}
const waitingMax=1_000;
class Inbox{
#items=new Map();
#by;
#readers=[];
#end=null;
constructor(by=null){
this.#by=by;
}
push(update){
if(this.#end!==null)return;
const key=(update.type==='event'?this.#by?.(update):null)??Symbol();
this.#items.delete(key);
if(this.#items.size>=waitingMax){
const last=[...this.#items.values()].findLast((one)=>one.position)?.position??null;
this.#items.clear();
this.#items.set(Symbol(),{type:'gap',reason:'tooSlow',missed:null,position:last});
}
this.#items.set(key,update);
this.#settle();
}
end(error=null){
this.#end??={error};
this.#settle();
}
next(){
return new Promise((resolve,reject)=>{
this.#readers.push({resolve,reject});
this.#settle();
});
}
take(){
for(const[key,update]of this.#items){
this.#items.delete(key);
return update;
}
return undefined;
}
#settle(){
while(this.#readers.length>0&&(this.#items.size>0||this.#end!==null)){
const{resolve,reject}=this.#readers.shift();
const error=this.#end?.error??null;
if(this.#items.size>0)resolve({done:false,value:this.take()});
else if(error!==null){
this.#end.error=null;
reject(error);
}else resolve({done:true,value:undefined});
}
}
}
class Optimistic{
#server;
#upTo=null;
#guesses=new Set();
#tell;
constructor(value,onChange=()=>{}){
this.#server=value;
this.#tell=onChange;
}
get value(){
return[...this.#guesses].reduce((value,{change})=>change(value),this.#server);
}
set(value,upTo=null){
this.#server=value;
this.#upTo=upTo;
for(const guess of this.#guesses){
if(guess.isAnswered&&this.#has(guess.position))this.#guesses.delete(guess);
}
this.#tell(this.value);
}
async perform(change,call){
const guess={change,isAnswered:false,position:null};
this.#guesses.add(guess);
this.#tell(this.value);
try{
const answer=await call();
guess.isAnswered=true;
guess.position=positionOf(answer);
if(guess.position&&this.#upTo&&this.#has(guess.position))this.#guesses.delete(guess);
return answer;
}catch(error){
this.#guesses.delete(guess);
this.#tell(this.value);
throw error;
}
}
#has(position){
return!position||this.#upTo?.epoch!==position.epoch||this.#upTo.offset>=position.offset;
}
}
function webStorage(area=globalThis.localStorage,prefix='switchboard-call:'){
const read=(key)=>{
try{
return JSON.parse(area.getItem(key));
}catch{
return undefined;
}
};
return{
load:()=>Array.from({length:area.length},(_,index)=>area.key(index))
.filter((key)=>key.startsWith(prefix))
.map((key)=>({...read(key),id:key.slice(prefix.length)})),
get:(id)=>read(prefix+id)??null,
put:(entry)=>area.setItem(prefix+entry.id,JSON.stringify(entry)),
remove:(id)=>area.removeItem(prefix+id),
};
}
const timerMsMax=2**31-1;
class SwitchboardClient{
#url;
#options;
#machine;
#inputs=[];
#isTaking=false;
#socket=null;
#timer=null;
#source=null;
#numbers=0;
#readers=new Map();
#waiters=new Map();
#watchers=new Set();
#results=new Set();
#keeper;
#unlisten=null;
#told=null;
constructor(url,{token=null,WebSocket=globalThis.WebSocket,storage=null,log,
random=Math.random,now=()=>performance.now(),wall=()=>Date.now()}={}){
if(typeof WebSocket!=='function')throw new TypeError('no WebSocket');
this.#url=String(url).replace(/^http/i,'ws');
this.#options={WebSocket,log,now,wall};
this.#machine=new Machine({random});
this.setToken(token);
this.#keeper=new Keeper(storage,{wall,warn:(text)=>this.#warn(text),
loaded:(entries)=>this.#take({type:'loaded',entries})});
}
start(){
this.#unlisten??=this.#listen();
this.#take({type:'start'});
}
stop(){
this.#unlisten?.();
this.#unlisten=null;
this.#take({type:'stop'});
}
setToken(token){
const isSource=typeof token==='function';
const kind=isSource?'source':token===null||token===undefined?'none':'fixed';
const text=kind==='fixed'?String(token):null;
this.#source=isSource?token:null;
this.#take({type:'setToken',kind,token:text});
}
get status(){
return this.#machine.status;
}
statuses({signal}={}){
return this.#watch(this.#watchers,new Inbox(()=>'status'),signal,{type:'event',status:this.status},
({status})=>status);
}
topic(name,options={}){
return this.#topic(name,options,false);
}
#topic(name,options,isCurrent){
const{since,presence,...more}=topicOf(name,options);
return new Topic(name,more,{
join:(inbox)=>{
const reader=++this.#numbers;
this.#readers.set(reader,inbox);
this.#take({type:'join',reader,topic:name,since,presence,isCurrent});
return()=>{
inbox.end();
if(this.#readers.delete(reader))this.#take({type:'leave',reader});
};
},
take:(input)=>this.#take({...input,topic:name}),
});
}
async state(name,options={}){
const topic=this.#topic(name,options,true);
for await(const update of topic){
if('state'in update)return update.state;
if(update.type==='live')topic.resynchronise();
}
throw new SwitchboardError('stopped');
}
call(event,args={},options={}){
return this.#call(null,event,args,options);
}
publish(topic,event,data={},options={}){
return this.#call(topic,event,data,options);
}
get outbox(){
return{
entries:this.#machine.calls.entries,
remove:(id)=>this.#take({type:'remove',id}),
results:({signal}={})=>this.#watch(this.#results,new Inbox(),signal,null,({result})=>result),
};
}
#call(topic,event,data,options){
return new Promise((resolve,reject)=>{
const{signal,...call}=callOf(topic,event,data,options);
const as=++this.#numbers;
const cancel=()=>this.#take({type:'cancel',as});
if(signal?.aborted)return reject(new SwitchboardError('cancelled'));
signal?.addEventListener('abort',cancel);
this.#waiters.set(as,{resolve,reject,done:()=>signal?.removeEventListener('abort',cancel)});
this.#take({...call,type:'call',as});
});
}
async*#watch(set,inbox,signal,first,read){
const end=()=>inbox.end();
if(signal?.aborted)return;
signal?.addEventListener('abort',end);
set.add(inbox);
try{
if(first!==null)inbox.push(first);
for(let one=await inbox.next();!one.done;one=await inbox.next())yield read(one.value);
}finally{
signal?.removeEventListener('abort',end);
set.delete(inbox);
}
}
#take(input){
this.#inputs.push(input);
if(this.#isTaking)return;
this.#isTaking=true;
const{now,wall}=this.#options;
while(this.#inputs.length>0){
const next=this.#inputs.shift();
for(const action of attempt(()=>this.#machine.take(next,now(),wall()))??[]){
attempt(()=>this.#do(action));
}
}
this.#isTaking=false;
clearTimeout(this.#timer);
const{wakeAt}=this.#machine;
if(wakeAt===Infinity)return;
this.#timer=setTimeout(()=>this.#take({type:'tick'}),Math.min(timerMsMax,Math.max(0,wakeAt-now())));
}
#log(text){
attempt(()=>this.#options.log?.(text));
}
#warn(text){
attempt(()=>(this.#options.log??console.warn)(text));
}
#tellReason({reason,isReady}){
if(reason!==null&&reason.code!==this.#told){
const[address]=this.#url.split('?');
const advice=reason.isPermanent?' This does not pass by waiting.':'';
this.#warn(`Switchboard: ${address}: ${reason.code}: ${reason.message}${advice}`);
}
if(reason!==null||isReady)this.#told=reason?.code??null;
}
#do(action){
const{gen,id,as}=action;
switch(action.do){
case'open':return this.#open(gen);
case'send':return this.#socket?.readyState===1&&this.#socket.send(action.text);
case'close':return this.#socket?.close(action.code);
case'token':return this.#askToken(id,action.reason);
case'tell':return this.#readers.get(action.reader)?.push(action.update);
case'end':
this.#readers.get(action.reader)?.end(action.error.code==='stopped'?null:action.error);
return this.#readers.delete(action.reader);
case'finish':return this.#finish(as,action);
case'keep':return this.#keeper.keep(action.entry,(how)=>this.#take({type:'kept',id,...how}));
case'mark':return this.#keeper.mark(action,(how)=>this.#take({...action,type:'marked',...how}));
case'forget':return this.#keeper.forget(id);
case'status':
this.#watchers.forEach((inbox)=>inbox.push({type:'event',status:action.status}));
return this.#tellReason(action.status);
default:return this.#log(action.text);
}
}
#open(gen){
let more={};
const closed=(code,reason)=>this.#take({type:'closed',gen,code,reason,...more});
try{
const socket=this.#socket=new this.#options.WebSocket(this.#url);
let isOpen=false;
socket.onopen=()=>{
isOpen=true;
this.#take({type:'opened',gen});
};
socket.onmessage=({data})=>this.#take({type:'text',gen,text:typeof data==='string'?data:''});
socket.onclose=({code,reason})=>closed(code,String(reason));
socket.onerror=(event)=>{if(!isOpen)more=problemOf(event,this.#url);};
}catch(error){
more={problem:['bad_address',textOf(error)]};
closed(0,textOf(error));
}
}
async #askToken(id,reason){
let token=null;
try{
token=await this.#source?.(reason);
}catch(error){
this.#log(`token: ${textOf(error)}`);
}
this.#take({type:'token',id,token});
}
#finish(as,{id,event,answer,error}){
const waiter=this.#waiters.get(as);
if(waiter===undefined){
this.#results.forEach((inbox)=>inbox.push({result:{id,event,answer,error}}));
return;
}
this.#waiters.delete(as);
waiter.done();
if(error===undefined)waiter.resolve(answer);
else waiter.reject(error);
}
#listen(){
const page=globalThis.document;
if(page===undefined||typeof addEventListener!=='function')return()=>{};
const visible=()=>page.visibilityState==='visible'&&this.#take({type:'visible'});
const heard=[
[globalThis,'online',()=>this.#take({type:'online'})],
[globalThis,'offline',()=>this.#take({type:'offline'})],
[globalThis,'pagehide',()=>this.#take({type:'hide'})],
[globalThis,'pageshow',({persisted})=>persisted&&this.#take({type:'visible'})],
[page,'visibilitychange',visible],
];
for(const[target,name,handler]of heard)target.addEventListener(name,handler);
return()=>heard.forEach(([target,name,handler])=>target.removeEventListener(name,handler));
}
}
function attempt(act){
try{
return act();
}catch(error){
console.error(error);
return undefined;
}
}
class Topic{
#options;
#client;
constructor(name,options,client){
this.name=name;
this.#options=options;
this.#client=client;
}
[Symbol.asyncIterator](){
const{signal,latestBy}=this.#options;
const inbox=new Inbox(latestBy);
let leave=()=>inbox.end();
const left=()=>leave();
signal?.addEventListener('abort',left);
if(signal?.aborted)leave();
else leave=this.#client.join(inbox);
const done=()=>{
signal?.removeEventListener('abort',left);
leave();
return inbox.next();
};
return{next:()=>inbox.next(),return:done};
}
async*events(...names){
for await(const update of this){
if(update.type==='event'&&(names.length===0||names.includes(update.event)))yield update;
}
}
async*presence(){
let members=new Map();
for await(const update of this){
if(update.type!=='presence')continue;
if(update.members)members=new Map();
for(const one of update.members??[...update.joins,...update.updates])members.set(one.id,one);
for(const one of update.leaves??[])members.delete(one.id);
yield new Map(members);
}
}
track(meta={}){
this.#client.take({type:'track',meta:metaOf(this.name,meta)});
}
resynchronise(){
this.#client.take({type:'resynchronise'});
}
}
export { Optimistic, SwitchboardClient, SwitchboardError, backOffMs, operationId, webStorage };
