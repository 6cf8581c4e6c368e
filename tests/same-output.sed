s|came too late to be put in order, which makes|came too late to be sorted by time, which makes|g
s|events were lost, and there is no record of what GPUs did|events were lost, and no GPU record is left|g
s|none was recorded, and names were left out while recording|none was recorded, and a filter left out names while recording|g
s|--tid leaves out what GPUs did, as no thread did that|--tid leaves out all GPU operations: they belong to no thread|g
s|no GPU operation is in the time that is chosen|no GPU operation is in the selected time range|g
s|no GPU operation is in what the options choose|no GPU operation matches the options|g
s|no GPU did anything|no GPU operation was recorded|g
s|--match leaves work of the GPUs out, and without that the figures would be wrong|--match leaves out GPU operations, and this report needs all of them|g
s|a pattern stands for a whole name (\*Launch\*), and names are such as|patterns match the full name (*Launch*); the file has names such as|g
s|, which counts once|: it is counted once|g
s|could not be read, and is in no figure|could not be read: no figure includes it|g
s|files in the folder that are no traces, and are left out:|files in the folder that are not traces, and are skipped:|g
s|no trace is in this folder|this folder contains no trace|g
s|, as high as rows are many|; height: number of rows|g
s|: those that came later are counted together, as (all others)|: further ones are counted together as (all others)|g
s|calls that lie partly in the range count whole|calls that overlap the range count in full|g
s|calls, the runtime's around them, work of the GPU, waits for it and ranges of the program go on at the same time: share % is of its own kind|groups (calls, runtime calls, GPU operations, waits, ranges) overlap in time: shares add up within each group only|g
s|copied from a recording that was not closed: its end, with \([0-9]*\) \(bytes\{0,1\}\), is not in it|copied from an unfinished recording, without its last \1 \2|g
s|the imported file was cut short: its end is not in it|the imported file is truncated: its end is missing|g
s|1 event has no time that can be, so it is in no figure|1 event has an invalid time and is ignored|g
s|events have no time that can be, so they are in no figure|events have an invalid time and are ignored|g
s|event ends before it begins: it counts as|event ends before it begins and counts as|g
s|events end before they begin: they count as|events end before they begin and count as|g
s|ends after it: it is a span here, and in no figure of calls|ends after it: it counts as a span, not as a call|g
s|end after it: they are spans here, and in no figure of calls|end after it: they count as spans, not as calls|g
s|name found no room: it has that of others|name did not fit into memory: it has a common name|g
s|names found no room: they are one|names did not fit into memory: they share a common name|g
s|event is none that can be understood|event has an unknown form and was skipped|g
s|events are none that can be understood|events have an unknown form and were skipped|g
s|work and calls of an accelerator that is neither CUDA's nor HIP's are ranges, and in no figure of GPUs: |operations and calls of an accelerator other than CUDA or HIP count as ranges, not as GPU operations: |g
s|1 line went back in time|1 line has an earlier time than the line before|g
s|lines went back in time|lines have an earlier time than the line before|g
s|\(arguments\{0,1\}\) found no room|\1 did not fit into memory|g
s|process is missing: gtcollect stood still for 10 s and more when it came|process was not recorded: gtcollect did not respond for 10 s|g
s|processes are missing: gtcollect stood still for 10 s and more when they came|processes were not recorded: gtcollect did not respond for 10 s|g
s|process is missing: it ran as another user than gtcollect, which does not share the rings with it|process was not recorded: it ran as another user than gtcollect, and rings are not shared with other users|g
s|processes are missing: they ran as another user than gtcollect, which does not share the rings with it|processes were not recorded: they ran as another user than gtcollect, and rings are not shared with other users|g
s#the program left \(it\|them\) by longjmp or an exception#longjmp or an exception ended \1#g
s|no record: another one was being written|no record: the handler interrupted the recording of another call|g
s#\(it was\|they were\) within more than 16 others#\1 nested in more than 16 other calls#g
s|calls: in \([0-9]*\) of the processes none were recorded, as CUPTI's callbacks could not be had|calls: \1 of the processes have none: CUPTI refused to subscribe callbacks|g
s|GPU: in \([0-9]*\) of the processes what it did was not recorded, as there was no CUPTI or it refused|GPU: \1 of the processes have no GPU records: CUPTI was missing or refused|g
s|of the processes its times are those of CUDA events around each call: durations are upper bounds, and some queueing is in them|of the processes times come from CUDA events around each call: durations are upper bounds and include some queue time|g
s|launch, copy or set has no time, as no CUDA event could be put around it or read|launch, copy or set has no time: no CUDA event could be recorded around it, or the event could not be read|g
s|launches, copies and sets have no time, as no CUDA event could be put around them or read|launches, copies and sets have no time: no CUDA event could be recorded around them, or the event could not be read|g
s|record: what it told is missing from every figure of the GPU|record: GPU figures do not include it|g
s|records: what they told is missing from every figure of the GPU|records: GPU figures do not include them|g
s|record came back while another profiler had CUPTI, with times of its clock: what it told is missing from every figure of the GPU|record has times of another profiler's clock, which used CUPTI at the time: GPU figures do not include it|g
s|records came back while another profiler had CUPTI, with times of its clock: what they told is missing from every figure of the GPU|records have times of another profiler's clock, which used CUPTI at the time: GPU figures do not include them|g
s|record found no room on its way here: what it told is missing from every figure of the GPU|record was dropped because a ring was full: GPU figures do not include it|g
s|records found no room on their way here: what they told is missing from every figure of the GPU|records were dropped because a ring was full: GPU figures do not include them|g
s|record had impossible times: what it told is missing from every figure of the GPU|record has invalid times: GPU figures do not include it|g
s|records had impossible times: what they told is missing from every figure of the GPU|records have invalid times: GPU figures do not include them|g
s|GPU: of \([0-9]*\) launch, copy or set it is not known what the GPU did: it failed, or its record never came; the report|GPU: \1 launch, copy or set has no GPU record (it failed, or CUPTI delivered none); the report|g
s|GPU: of \([0-9]*\) launches, copies and sets it is not known what the GPU did: they failed, or their records never came; the report|GPU: \1 launches, copies or sets have no GPU record (they failed, or CUPTI delivered none); the report|g
s|GPU: \([0-9]*\) \(waits\{0,1\}\) for a stream, it is not known for which (--args none)|GPU: \1 \2 for an unknown stream (--args none)|g
s|GPU: what it did was not recorded: |GPU: not recorded: |g
s|no CUDA call was seen: the program never loaded libcuda.so.1 or never called it, or what called it had LD_PRELOAD taken out of its environment, or the options it was recorded with left out all there was; gtcollect --doctor tells more|no CUDA call was recorded: the program never loaded or called libcuda.so.1, or a program in between removed LD_PRELOAD from its environment, or the options left out all calls; run gtcollect --doctor|g
s|newer than the recorder passed untraced; the metadata|newer than the recorder: calls were not recorded; the metadata|g
s|, of what came later there is a part|, later events are incomplete|g
s|\(LOST on .*\): what \([0-9]*\) \(launch[es]*\) did since|\1: GPU records of \2 \3 since|g
s|without an end, in no report but open|without an end, only in the report open|g
s|the GPU was simulated: times say nothing about a real one|the GPU was simulated: its times do not match a real GPU|g
s|; what was lost is missing from counts and sums, and gaps may be no gaps|; counts and sums lack the lost rows, and gaps may contain lost operations|g
s|no work of a GPU in it: reports about GPUs are of the others|it has no GPU operations: GPU reports cover the others|g
s|every report; the header report lists them|every report; the header report lists the places|g
s|(--per-rank: each by itself)|(--per-rank: each separately)|g
s|which calls switch, and which bind what was bound already, is not told: --match may leave others out|switches and repeated binds are unknown: --match may leave out calls|g
s|which calls switch, and which bind what was bound already, is not told where the context was not recorded|switches and repeated binds are unknown if the context was not recorded|g
s#\(of the counters [isare]*\) not certain, from \([0-9.]* s\) on: not each call that changes \(it\|them\) was #\1 uncertain from \2 on: some calls that change \3 were not #g
s#of those that came later \(is\|are\) left out#of further counters \1 left out#g
/^  how much of each call is spent in ioctls of the driver, and which of those$/{N;s|.*|  time of each call in ioctls of the driver, and failed ioctls by status|}
/^  copies and sets on the GPU by direction and memory: bandwidth, what kernels$/{N;s|.*|  copies and sets on the GPU by direction and memory: bandwidth, time hidden\n  by kernels, gain from pinned memory|}
/^  what GPUs did at the same time: communication and copies hidden, streams$/{N;s|.*|  work that GPUs did at the same time: hidden communication and copies,\n  streams side by side|}
s|cannot answer what is hidden under kernels: \(there are more\)|hidden times are unknown: \1|g
s|cannot answer what is hidden under kernels: --match leaves work of the GPU out|hidden times are unknown: --match leaves out GPU operations|g
s|cannot answer what share of the time that is (busy %): --match leaves work of the GPU out|busy % is unknown: --match leaves out GPU operations|g
s|\(GPU [0-9]* of [^"]*\) is \([^"]*\), too, recorded apart: it counts as two, and where one is idle the other may work|\1 and \2 are the same GPU: it counts as two, and one may work while the other is idle|g
s|\(GPU [0-9]* of process [0-9]*\) is \([^"]*\), too: one line has the work of all|\1 and \2 are the same GPU: one row has the work of all|g
s|what the calls tell: gtanalyze|reports of calls: gtanalyze|g
s|no GPU did work on more than one stream: nothing there could run side by side|no GPU used more than one stream: no operations could run side by side|g
s#\(rows\{0,1\}\) \(lies\|lie\) on \(streams beyond the first [0-9]* of [a-z]* GPU\), whose pairs are not here#\1 LIE-\2 on \3, which are in no pair#g
s#LIE-lies#is#g
s#LIE-lie#are#g
s|Pairs of streams, those that worked apart the longest first|Pairs of streams, longest time apart first|g
s|what GPUs did at the same time: communication and copies hidden, streams side by side|work that GPUs did at the same time: hidden communication and copies, streams side by side|g
s|bandwidth, what kernels hide, what pinning would win|bandwidth, time hidden by kernels, gain from pinned memory|g
s|Pageable copies, and what pinned ones would take|Pageable copies, and the time of pinned ones|g
s#no end, or no beginning, and \(is\|are\) not looked at#no end, or no beginning, and \1 not counted#g
s#\(launched no kernel themselves\|launched no kernel itself\); what ranges inside \(it\|them\) launched stands there#\1: kernels of ranges inside \2 are in the rows of those#g
s|the program's ranges by name: when the GPU did what was launched in them|the program's ranges by name, with the GPU time of the work launched in them|g
s|nothing came to be recorded|nothing was recorded|g
s|what changed by more than 1 %; of single figures noise cannot be told|figures that changed by more than 1 %; the noise of a single figure is unknown|g
s|what seems to be \([adegnor ]*\) may be so for that reason only|names that seem \1 may only be left out there|g
s|what changed may be the machine, not the program|changes may come from the machine, not from the program|g
s|By name, what changed the time most first|By name, largest change of the total first|g
s|what was recorded by which source, losses, damage|data, sources, losses and damage of each recording|g
s|calls of the runtime are listed, and the driver's calls within them, too|calls of the runtime are listed, and also the driver's calls within them|g
s|how much of each call is spent in ioctls of the driver, and which of those failed how|time of each call in ioctls of the driver, and failed ioctls by status|g
s|work of the GPU was not recorded|GPU work was not recorded|g
s|--tid leaves out counters, which are of no thread|--tid leaves out counters: they belong to no thread|g
s|beyond the first \([0-9]*\) kinds of failure and not listed|of further kinds than the first \1, and not listed|g
s|those without a duration began, and no end of theirs was recorded|rows without a duration have a begin, but no recorded end|g
s|: the file goes on after that, and calls listed here may have ended since|: the file continues after that, and listed calls may have ended since|g
s|overlap without being nested: their time is not certain|overlap without being nested: their busy time is uncertain|g
s|: those that came later are not drawn, they made |: further threads have no strip; they made |g
s#\([0-9]* rows\{0,1\}\) held against \(.*\) \(has\|have\) no \(.*\): it is false of \(it\|them\)#\1 tested with \2 \3 no \4: the test is false for \5#g
s|\([0-9]* rows\{0,1\}\) held against \(.*\) \(has\|have\) no \(.*\): it is false of \(it\|them\)|\1 tested with \2 \3 no \4: the test is false for \5|g
s|: one frame of \([0-9x]*\) instead, as of --render|: printing one frame of \1, like --render|g
s|nothing has been recorded there yet: a terminal would wait for it|the trace has no events yet; gtview waits for them only in a terminal|g
s|, is shared out|, is broken down|g
s|are part of it by links that are likely, not certain|are linked in part by inferred dependencies|g
s|operations are joined to no call: what they waited for is known in part only|operations are joined to no call: some of their dependencies are unknown|g
s|calls end behind the call they began in: what they took beyond it counts as outside CUDA|calls end after the call in which they began: their time after it counts as outside CUDA|g
s|--match leaves links of the chain out|--match leaves out parts of the path|g
s|what bounds the run: the chain of calls, GPU work and waits, and (--without) what remedies can win at most|the critical path of calls, GPU work and waits, and (--without) the largest possible gain of remedies|g
s|standard output is no terminal|standard output is not a terminal|g
s|held up by the profiler|profiler overhead|g
s|no more work in the window|no further GPU work|g
s|unknown: the launch is not known|unknown: its launch is not recorded|g
s|unknown: more calls in a gap than are kept|unknown: too many calls in the gap|g
s|leaves rows out, and what is left out would look idle|leaves rows out, and their time would look idle|g
s|behind the last GPU operation|after the last GPU operation|g
s|a gap has its cause from the operation that ends it: choose time until there to know it|the operation that ends a gap decides its cause: extend the range to see the cause|g
s|Idle while synchronising, by what was waited for|Idle while synchronising, by wait target|g
s|Time in which only this ran on its GPU|Exposed time by operation|g
s|what the calls tell: gtanalyze|reports of calls: gtanalyze|g
s|What could be won|Potential speedups|g
s|Could win|Up to|g
s|: could win |: up to |g
s|, of the same time|, counted above, too|g
s|does something else than CUDA, in \([0-9]*\) stretch\(es\)\{0,1\} between|runs code outside CUDA, \1 times between|g
s|or do the other work on another thread|or move the other code to another thread|g
s|asked to be asynchronous, and are not)|were called asynchronous, but are not)|g
s|copies are of pageable memory|copies use pageable memory|g
s|the driver copies twice, and the GPU waits \([^,]*\) meanwhile, and|the driver copies twice, the GPU waits \1 for it, and|g
s|hold the calling thread until they are done|block the calling thread until they end|g
s|copies are of less than 64 KiB|copies have less than 64 KiB|g
s|(communication apart)|(without communication)|g
s|has nothing to do for \(.*\) because its stream waits for an event that comes from elsewhere|is idle for \1 because its stream waits for an event of another stream|g
s|for the profiler itself: without it the program is that much faster|for the profiler: without it the program is faster by this time|g
s|what could be won is an upper bound: what else would then take the time is not known|potential speedups are upper bounds: other bottlenecks may then dominate|g
s|wait for events, later, or not at all|synchronize later, on an event, or not at all|g
s|see what the host does there|see the activity of the host there|g
s|share the work out evenly|distribute the work evenly|g
s|or memory that is kept|or reuse of memory|g
s|communicate while something computes|overlap communication with compute|g
s|cooling, or a higher limit of power|better cooling, or a higher power limit|g
s|free it, or use it again|free the memory, or reuse it|g
s|it takes to read the trace once more: gtanalyze advice|needs a second reading of the trace: gtanalyze advice|g
s|see what the event waits for|find the operation that the event waits for|g
s|region made of thirtieths of the window in each of which it is idle for more than half of the time|region (of 30 intervals) that is less than 50 % busy|g
s|regions made of thirtieths of the window in each of which it is idle for more than half of the time|regions (of 30 intervals) that are less than 50 % busy|g
s|in all \([0-9]*\) launch|total: \1 launch|g
s|short, on the GPU for less time than in the call|short: less time on the GPU than in the call|g
s|are of the time from the start of the call to the end of both|are shares of the time from the start of the call to the end of call and work|g
s|the time of its calls by the nodes that they launched|the time of its calls divided by the number of nodes|g
s|no work of a GPU: its launches|no GPU operations: its launches|g
s|more than \([0-9]*\) different kernels and graphs: those that came later are|more than \1 different kernels and graphs: further ones are|g
s|Short kernels, by the time their launches take beyond that on the GPU|Kernels shorter than their launch|g
s|Stretches with nothing queued|Periods with an empty queue|g
s|Idle GPUs with nothing queued|Idle GPUs with an empty queue|g
s|nothing queued: idle until the call that launched the next work had returned, and that work started at most 10 us later (gtanalyze advice says how much is launch-bound, and how much host-bound)|empty queue: idle until the call that launched the next operation returned, which then started at most 10 us later (gtanalyze advice shows the launch-bound and the host-bound part)|g
s|gaps over 1 ms stand apart: then the program did something else; launched: the next work was, and did not start|gaps over 1 ms are a column of their own: the program did other work; launched: the next operation was launched, but did not start|g
s|idle time is known only where all work is looked at (|idle time needs all operations (|g
s|a queue is known only where all work is looked at (|queues need all operations (|g
s|launches that wait for the GPU: from the return of the call to the start of the work; % is of the time|a launch waits from the return of its call to the start of its work; % is a share of the time|g
s|an H200 has room for 1,022 to 1,024 in a channel); held up: time|an H200 has 1,022 to 1,024 places in a channel); blocked: time|g
s|of \([0-9]*\) \(cop[a-z]*\) the call does not tell direction and size: they are those of what the GPU copied|for \1 \2 the call has no direction and size: they are taken from the GPU's records|g
s|of \([0-9]*\) \(cop[a-z]*\) the call does not tell direction and size: these are of what the GPU copied|for \1 \2 the call has no direction and size: these are taken from the GPU's records|g
s|of \([0-9]*\) of these the call was told by \([a-z]*\) order in the stream: likely, not certain|for \1 of these the call was inferred by \2 order in the stream|g
s|: the report copies has what the GPU copied|: report copies has the copies of the GPU|g
s|Memory transfers by direction, as called|Memory transfers by direction, from calls|g
s|of \([0-9]*\) untold \(waits\{0,1\}\) for a stream it was not recorded which stream that is|for \1 unknown \2 for a stream it was not recorded which stream|g
s|PyTorch's profiler does so with|PyTorch's profiler records it with|g
s|of the waits what the GPU did meanwhile, nor|of the waits how long the GPU was busy, nor|g
s|leaves work of the GPU out$|leaves out GPU operations|g
s|no work of the GPU was recorded for their process|no GPU operation was recorded for their process|g
s|no wait is called needless|no wait counts as unnecessary|g
s|cannot answer: for GPU \([0-9]*\) of process \([0-9]*\) no repeating sequence was found:|cannot answer: GPU \1 of process \2 has no repeating sequence:|g
s|for GPU \([0-9]*\) of process \([0-9]*\) no repeating sequence was found:|GPU \1 of process \2 has no repeating sequence:|g
s|nothing but copies and sets repeats|only copies and sets repeat|g
s|repeating: of all that the GPU ran, what is in steps whose|repeating: the share of GPU operations in steps whose|g
s|a step lasts until the next one begins, so the last one, which has no next, is left out|a step lasts until the next one begins: the last one is left out|g
s|steps are found, and numbered, in the time that is chosen alone: in all of the run they may be others|steps are found and numbered in the selected range only: those of the whole run may differ|g
s|launches are not known or not in order: work and calls count to the step in whose time on the GPU they began|launches are unknown or unordered: operations and calls count for the step in whose GPU time they began|g
s|steps of a GPU, picked at even distances behind the warm-up|steps of a GPU, sampled evenly after the warm-up|g
s|The slowest steps, and what differs from the median step|The slowest steps, and their differences from the median step|g
s|what repeats does so less than twice in the time that was looked at|the sequence occurs less than twice in the selected range|g
s|kernels, copies and sets by the program itself; what graphs launch stands under graphs, and is in no run and no sequence|kernels, copies and sets without those of graphs; work of graphs is counted as graphs, and is in no run and no sequence|g
s|two or more of one kernel behind one another on a stream|two or more consecutive launches of one kernel on a stream|g
s|a repetition counts where it does not overlap the one before; of sequences with three launches in a row in common only the first in this list is shown|repetitions do not overlap; of sequences with three launches in a row in common only the best is shown|g
s|what is not known of a call takes no time here|an unknown call counts as 0 ns|g
s|what follows what is known only where all work is looked at (|sequences need all operations (|g
s|What is launched on each stream|Launches by stream|g
s|Sequences that repeat, by launches they cover|Repeated sequences, by the number of launches they cover|g
s|Runs of the same kernel, by launches in them|Runs of the same kernel, by the number of launches in runs|g
s|cannot answer where the GPU's work was not recorded or is left out whether frees waited|cannot answer whether frees waited if GPU operations were not recorded or are left out|g
s|per step: of those in the steps|per step: allocations in the steps|g
s|how many that are in each step cannot be told: gtanalyze steps says why|the number per step is unknown: gtanalyze steps shows the reason|g
s|how many that are in each step of other processes cannot be told: gtanalyze steps says why|the number per step of other processes is unknown: gtanalyze steps shows the reason|g
s|What was alive at the peak of its process|Live memory at the peak of its process|g
s|not all that changes these figures was seen: gtanalyze counters tells from when on|some allocations or frees were not seen: gtanalyze counters shows from when on|g
s#of NULL, which frees nothing, \(is\|are\) not among the frees#of NULL: not counted as frees#g
s|cannot answer what was alive:|cannot answer which memory was live:|g
s|what was allocated before the time that is chosen is in no figure, however long it lived|memory allocated before the selected range is not counted|g
s|handed out again|allocated again|g
s|from the first to the last row: the most that was alive in each cell; "." below a fifth of @|from the first to the last row: the maximum in each cell; "." is below 20 % of the peak, @ from 90 % on|g
s|from the first to the last row: the most that was alive in each cell; \\"\.\\" below a fifth of @|from the first to the last row: the maximum in each cell; \\".\\" is below 20 % of the peak, @ from 90 % on|g
s|--tid leaves out what other threads free|--tid leaves out frees of other threads|g
s|--match leaves calls out that allocate or free|--match leaves out calls that allocate or free|g
s|what made the peak, what is never freed, and more: gtanalyze memory|memory at the peak, memory never freed, and more: gtanalyze memory|g
s|a GPU does nothing for more than \(.*\) in all; most of the longest gap is: |a GPU is idle for more than \1 in total; main cause of the longest gap: |g
s|something follows the trace|unexpected text after the trace|g
s|expected a JSON object, one a line|expected one JSON object per line|g
s|bytes that are of no recording|bytes that belong to no recording|g
s|zstd data of something else|zstd data of another program|g
s|what it held is missing|its content is missing|g
s|too many to put their rows in order|too many to sort their rows|g
s|(one of too many names)|(names beyond the limit)|g
s|busy % is of \(.*\) in which devices worked: kernels, copies and sets, overlaps counted once|busy % is a share of \1 of GPU busy time: kernels, copies and sets, overlaps count once|g
s|only what lasts beyond TIME after the trace's start|only events that end after TIME since the start|
s|only what begins before TIME after the trace's start|only events that begin before TIME since the start|
s|@CATEGORY; several are alternatives|@CATEGORY; repeat it to match more|
s|@CATEGORY; several are$|@CATEGORY; repeat it to|
s|^                           alternatives$|                           match more|
s|what folded stacks count|value of folded stacks|
s|^TRACE is a trace of gtcollect or any file gt can read; - is standard input. Without -o the output$|TRACE is a trace of gtcollect or any file that gt can read; - is standard input. Without -o the|
s|^goes to standard output, or, where that is a terminal, into a file beside the trace, under its name$|output goes to standard output. If that is a terminal, it goes to a file beside the trace with the|
s|^with the format's ending. Exit status: 0, 1 failure|same name and the format's ending. Exit status: 0, 1 failure|
s|values left out because they are not numbers|values omitted because they are not numbers|
s|'\([^']*\)' is none of its words (see --help)|invalid value '\1' (see --help)|
s|restricted to what is seen|restricted to the visible range|g
s|no work of a GPU is in the time that is seen|the visible time has no GPU work|g
s|no call is in the time that is seen|the visible time has no calls|g
s|no range and no call is in the time that is seen|the visible time has no ranges and no calls|g
s|launch not known: GPU|unknown launch: GPU|g
s|too many stacks: some are told with what they stand beneath|too many stacks: some count for their parents|g
s#\([0-9]*\) end behind what they began in: their rest stands beside it#\1 events end after their parent: their rest is drawn beside it#g
s/dropped because a buffer was full: GPU/dropped because a ring was full: GPU/g
s/no memory for \(the \|an\{0,1\} \)\{0,1\}\([^"]*[^"[:punct:]]\)/out of memory (\2)/g
s/out of memory (\(GPUs\|GPU work\|devices\|allocations\))/out of memory (list of \1)/g
s#\([0-9]* launch[^:]*\) no time: \([0-9]*\) found no CUDA event free, \([0-9]*\) came as a capture began, \([0-9]*\) ended with their context, #\1 no GPU time: for \2 no CUDA event was available, \3 were called while a capture began, \4 belonged to a destroyed context, #g
s#: 1 call nested too deep: without a record#: 1 call has no record: nested too deep#g
s#calls nested too deep: without a record#calls have no record: nested too deep#g
s#: 1 call left by longjmp or an exception: without a record#: 1 call has no record: left by longjmp or an exception#g
s#calls left by longjmp or an exception: without a record#calls have no record: left by longjmp or an exception#g
s#: 1 call of signal handlers came while a record was written: without a record#: 1 call in a signal handler has no record: the handler interrupted the writing of another record#g
s#calls of signal handlers came while a record was written: without a record#calls in signal handlers have no record: the handler interrupted the writing of another record#g
s#: 1 ring overwritten by the program and given up#: 1 ring is no longer read: the program overwrote ring memory#g
s#rings overwritten by the program and given up#rings are no longer read: the program overwrote ring memory#g
s|\([0-9.]* MiB\) more are alive at the end of the window than at its start, and never freed: \([0-9]* of [0-9]* blocks\) by \([^"]*\) of \([0-9]*\) bytes, \([0-9.]* MiB\), increasing in \([0-9]\) of 8 parts of the window|\1 allocated in the window are never freed. Largest part, \5: \2, allocated by \3, \4 bytes each; their number grows in \6 of 8 parts of the window|g
s|; others increase, too: gtanalyze memory|; gtanalyze memory lists the other parts|g
s|; saves memory, not time|. Fixing this saves memory, not time|g
s|UNMATCHED: 1 begin without an end, only in the report open|UNMATCHED: 1 event has a begin but no end; only the report open lists it|g
s|begins without an end, only in the report open|events have a begin but no end; only the report open lists them|g
s|begins or ends without the other half (the report open has such begins)|events have only a begin or only an end (the report open lists the begins)|g
s|1 begin or end without the other half (the report open has such begins)|1 event has only a begin or only an end (the report open lists the begins)|g
s|of the imported file 1 name did not fit into memory: it has a common name|the imported file has too many names for the memory: 1 of them was replaced by one common name|g
s|of the imported file \([0-9]*\) names did not fit into memory: they share a common name|the imported file has too many names for the memory: \1 of them were replaced by one common name|g
s|no names were compared: name kernels, copies, top or ioctls, or no report|this gate needs the comparison by name: select the report kernels, copies, top or ioctls, or no report|g
s|from the first to the last row: the maximum in each cell; "\." is below 20 % of the peak, @ from 90 % on|the chart covers the time from the first to the last row; each character shows the maximum of its interval: "." below 20 % of the peak, "@" 90 % or more|g
s|from the first to the last row: the maximum in each cell; \\"\.\\" is below 20 % of the peak, @ from 90 % on|the chart covers the time from the first to the last row; each character shows the maximum of its interval: \\".\\" below 20 % of the peak, \\"@\\" 90 % or more|g
s|that occurred once was dropped: if it occurs again, it counts once less|that had occurred once was dropped; if it occurs again, its count is too low by 1|g
s|that occurred once were dropped: if they occur again, they count once less|that had occurred once were dropped; if one of them occurs again, its count is too low by 1|g
s#cannot answer for \([0-9]* cop[a-z]* [^:"]*\): there are no pinned ones of [a-z]* size (or, of 1 MiB and more, down to a quarter of it)#cannot estimate the gain for \1: no pinned copy of similar size was recorded (similar: the same size class; from 1 MiB on, also down to a quarter of the size)#g
s|operations repeat, but not in the same company|single operations repeat, but not in the same order with the same neighbours|g
s|spread: 1 cell from |spread: a histogram of 1 bar from |g
s|spread: \([0-9]*\) cells from |spread: a histogram of \1 bars from |g
s|, one to each power of two; height: number of rows|, one bar for each power of two; the height of a bar shows the number of rows|g
s|, \([0-9]*\) to each power of two; height: number of rows|, \1 bars for each power of two; the height of a bar shows the number of rows|g
s|, each \([0-9]*\) powers of two; height: number of rows|, one bar for each \1 powers of two; the height of a bar shows the number of rows|g
s|groups: --by fewer fields, or --where fewer rows|groups: use fewer fields in --by, or select fewer rows with --where|g
s|different values: --where fewer rows, or --by fewer fields|different values: select fewer rows with --where, or use fewer fields in --by|g
s|: \([^:]*\) from \([-0-9.]* s\) to \([-0-9.]* s\), between its first and last \([^",]*\), is broken down|: the breakdown covers \1, from \2 to \3 (first to last \4)|g
s|a \. and a figure of \([a-z_-]*\) belong here|expected . and a column of \1, for example kernels.p99|g
s|time (%) is of the sum of all total times, not of the time that passed|time (%) is the share of the sum of all total times, not of the elapsed time|g
s|dlopen in a forked child (a thread of its parent held the loader's lock)|loading CUPTI in a forked child (another thread of the parent was inside dlopen at the fork)|g
s|--range: there are cuda-profiler and nvtx:NAME|--range must be cuda-profiler or nvtx:NAME|g
s|\([^ ]*\): not found in $PATH; \./ before it runs the one here|\1: not found in $PATH; to run the file in the current folder, write ./\1|g
s|in a container, start it with the GPU passed in|for a container: start the container with access to the GPU (--gpus all)|g
s|NVML knows of no device|NVML reports no device|g
s|nothing is looked for: / does that|no search is active: press / to search|g
s|nothing has a name like|no name matches|g
s|\([^ ]* [^ ]*\) behind the return of that call|started \1 after that call returned|g
s|rows, as the index says|rows (count from the index)|g
s|what helps  |to repair   |g
s|gtexport --native writes all that can be read into a new file, in which this is a loss|gtexport --native copies all readable rows to a new file and marks this time span as lost|g
