// The playground's worker: it has the core, takes steps while nobody asks, and answers as the program's server does.
//
// A request { id, kind, ... } is answered by { id, status, bytes }. Kinds:
//
//     open   files { name: text or bytes }, scene: its name     a run of that scene
//     check  files, scene                                       what is wrong with it
//     ask    path "frames", query "first=0&count=3"             as in app/page/answers.h
//     order  order                                              as in app/page/live_order.h
//     wait   after, version                                     the status, when it is another one
//     hash   files, scene, steps                                of the state after some steps; other requests are heard meanwhile, unless isAtOnce
//     memory                                                    of the core, in bytes
//     ping

const patience = 0.012; // s of steps between two looks at what is asked
const folder = '/scene';
const hashPiece = 5; // steps between two such looks

let core = null;
let waits = [];
let isScheduled = false;

const channel = new MessageChannel();
channel.port1.onmessage = () => {
    isScheduled = false;
    advance();
};

// Compiles while it is being loaded, if the server says what kind of file it is.
async function compile(response) {
    if (!response.ok) {
        throw new Error('tippe.wasm is not where this page is');
    }
    return response.headers.get('Content-Type') === 'application/wasm' ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

async function start() {
    const compiling = fetch('tippe.wasm').then(compile);
    compiling.catch(() => {}); // told below
    importScripts('tippe.js');
    const module = await compiling;
    core = await self.loadTippe({
        instantiateWasm: (imports, receive) => {
            WebAssembly.instantiate(module, imports).then(instance => receive(instance, module));
            return {};
        },
        print: () => {}, printErr: () => {},
    });
    core.FS.mkdir(folder);
    postMessage({ id: 0, status: 200, bytes: null });
}

const bytesOf = value => (typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value));

// Calls with texts, each in memory of the core as long as the call lasts.
function withTexts(texts, call) {
    const places = texts.map(text => {
        const bytes = bytesOf(text), at = core._tpPlay_Take(bytes.length + 1);
        if (at === 0) {
            throw new Error('memory ran out');
        }
        core.HEAPU8.set(bytes, at);
        core.HEAPU8[at + bytes.length] = 0;
        return { at, size: bytes.length };
    });
    try {
        return call(...places);
    } finally {
        places.forEach(({ at }) => core._tpPlay_GiveBack(at));
    }
}

function reply() {
    const at = core._tpPlay_Reply(), size = core._tpPlay_ReplySize();
    return size > 0 ? core.HEAPU8.slice(at, at + size).buffer : new ArrayBuffer(0);
}

// A file's last name; nothing leaves the folder.
const pathOf = name => `${folder}/${name.split('/').pop()}`;

function writeFiles(files) {
    core.FS.readdir(folder).filter(name => name !== '.' && name !== '..').forEach(name => core.FS.unlink(pathOf(name)));
    Object.entries(files).forEach(([name, content]) => core.FS.writeFile(pathOf(name), bytesOf(content)));
}

function textAt(at) {
    let end = at;
    while (core.HEAPU8[end] !== 0) {
        ++end;
    }
    return core.HEAPU8.slice(at, end).buffer;
}

function ask(path, query) {
    const status = withTexts([path, query], (p, q) => core._tpPlay_Ask(p.at, q.at));
    return { status, bytes: reply() };
}

const kinds = {
    open({ files, scene }) {
        writeFiles(files);
        const status = withTexts([pathOf(scene)], path => core._tpPlay_Open(path.at));
        return { status, bytes: reply() };
    },
    check({ files, scene }) {
        writeFiles(files);
        const status = withTexts([pathOf(scene)], path => core._tpPlay_Check(path.at));
        return { status, bytes: reply() };
    },
    ask: ({ path, query }) => ask(path, query),
    order({ order }) {
        const status = withTexts([JSON.stringify(order)], body => core._tpPlay_Order(body.at, body.size));
        schedule();
        return { status, bytes: reply() };
    },
    memory: () => ({ status: 200, bytes: bytesOf(String(core.HEAPU8.length)).buffer }),
    ping: () => ({ status: 200, bytes: null }),
};

function schedule() {
    if (!isScheduled) {
        isScheduled = true;
        channel.port2.postMessage(null);
    }
}

async function hash({ id, files, scene, steps, isAtOnce }) {
    writeFiles(files);
    let bytes = bytesOf('').buffer;
    if (withTexts([pathOf(scene)], path => core._tpPlay_BeginHash(path.at))) {
        for (let left = steps; left > 0; left -= hashPiece) {
            core._tpPlay_StepHash(isAtOnce ? steps : Math.min(left, hashPiece));
            await new Promise(resolve => setTimeout(resolve));
        }
        bytes = textAt(core._tpPlay_EndHash());
    }
    postMessage({ id, status: 200, bytes });
}

let alarm = 0;

function advance() {
    clearTimeout(alarm);
    const wait = core._tpPlay_Advance(patience);
    answerWaits();
    if (wait > 0.002) {
        alarm = setTimeout(schedule, 1000 * wait);
    } else if (wait >= 0) {
        schedule();
    }
}

function answerWaits() {
    if (waits.length === 0) {
        return;
    }
    const { status, bytes } = ask('live', 'after=0&version=0');
    const now = status === 200 ? JSON.parse(new TextDecoder().decode(bytes)) : null;
    waits = waits.filter(({ id, after, version }) => {
        const isNew = !now || now.frames !== after || now.version !== version;
        if (isNew) {
            postMessage({ id, status, bytes: bytes.slice(0) });
        }
        return !isNew;
    });
}

onmessage = ({ data }) => {
    if (data.kind === 'wait') {
        waits.push(data);
        answerWaits();
        return;
    }
    if (data.kind === 'hash') {
        hash(data);
        return;
    }
    let answer;
    try {
        answer = kinds[data.kind](data);
    } catch (error) {
        answer = { status: 500, bytes: bytesOf(`the core came to an end: ${error.message ?? error}`).buffer, isLost: error instanceof WebAssembly.RuntimeError };
    }
    postMessage({ id: data.id, ...answer }, answer.bytes ? [answer.bytes] : []);
};

start().catch(error => postMessage({ id: 0, status: 500, bytes: bytesOf(`${error.message}`).buffer }));
