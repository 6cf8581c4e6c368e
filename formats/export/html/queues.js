/* Queue depth: the number of launches that wait for a GPU, as gtview's lanes and `gtanalyze queues` have it. A launch waits on its
 * stream from the return of its call to the start of its first work; it does not wait if the work began before. The depth of a
 * GPU is the sum over its streams of one process. Computed after the first picture, from the arguments of all GPU work. */

/* The points of a depth, from moments: 2 * time + 1 where a launch begins to wait, 2 * time where its work starts. */
function depthPoints(from, moments) {
	const start = new Float64Array(moments.length + 1),
		value = new Float64Array(moments.length + 1);
	let n = 0,
		depth = 0;

	moments.sort();
	start[0] = from;
	for (const m of moments) {
		const t = Math.floor(m / 2);

		if (start[n] !== t) start[++n] = t;
		depth += m % 2 ? 1 : -1;
		value[n] = depth;
	}
	return { start: start.slice(0, n + 1), value: value.slice(0, n + 1) };
}

function joined(lists) {
	const all = new Float64Array(lists.reduce((n, l) => n + l.length, 0));
	let at = 0;

	for (const list of lists) {
		all.set(list, at);
		at += list.length;
	}
	return all;
}

Object.assign(Model.prototype, {
	/* By lane of calls: for each call the start and the track of its first work. Sets this.everyLaunch. */
	firstWork() {
		const all = new Map();

		this.everyLaunch = !this.head.damage && !this.head.merged && this.head.segments.every(s => s[2]);
		this.everyLaunch &&= !this.lanes.some(l => l.aspect === LOSSES);
		this.eachLaunch((lane, i, call, k) => {
			if (!call) {
				this.everyLaunch = false;
				return;
			}
			let of = all.get(call);

			if (!of) {
				of = { at: new Float64Array(call.n).fill(Infinity), track: new Int32Array(call.n) };
				all.set(call, of);
			}
			if (lane.start[i] < of.at[k]) {
				of.at[k] = lane.start[i];
				of.track[k] = lane.track;
			}
		});
		return all;
	},
	/* By track of a stream: its moments. */
	queueMoments() {
		const lists = new Map();

		for (const [call, { at, track }] of this.firstWork())
			for (let k = 0; k < call.n; k++) {
				if (at[k] === Infinity || at[k] < call.end[k]) continue;
				if (!lists.has(track[k])) lists.set(track[k], []);
				lists.get(track[k]).push(2 * call.end[k] + 1, 2 * at[k]);
			}
		return lists;
	},
	/* Sets this.queues: by track of a stream or a GPU, a lane as those of counters. */
	findQueues() {
		const gpus = new Map();

		this.queues = new Map();
		for (const [stream, moments] of this.queueMoments()) {
			let gpu = stream;

			while (gpu >= 0 && this.tracks[gpu].kind !== "device") gpu = this.tracks[gpu].parent;
			if (!gpus.has(gpu)) gpus.set(gpu, []);
			gpus.get(gpu).push([stream, Float64Array.from(moments)]);
		}
		for (const [gpu, streams] of gpus) {
			if (streams.length > 1 || gpu < 0)
				for (const [stream, moments] of streams) this.addQueue(stream, moments);
			if (gpu >= 0) this.addQueue(gpu, joined(streams.map(s => s[1])));
		}
	},
	addQueue(track, moments) {
		this.queues.set(track, {
			track,
			aspect: COUNTER,
			name: this.everyLaunch ? "queue depth" : "queue depth (at least)",
			points: new Points(depthPoints(this.from, moments)),
			levels: [],
		});
	},
});
