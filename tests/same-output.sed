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
