/* All entry points: the name, the CUDA version that introduced this form (as in cudaTypedefs.h),
 * and the suffix of the symbol. F: stream 0 is the legacy stream, or the call takes no stream. P:
 * stream 0 is the thread's own. samples.mk reads this list too. */
#ifndef SIM_ENTRIES_H
#define SIM_ENTRIES_H
/* clang-format off */
#define ENTRIES \
	F(cuArray3DCreate, 3020, _v2) F(cuArray3DGetDescriptor, 3020, _v2) \
	F(cuArrayCreate, 3020, _v2) F(cuArrayDestroy, 2000,) F(cuArrayGetDescriptor, 3020, _v2) \
	F(cuCtxCreate, 3020, _v2) F(cuCtxCreate, 11040, _v3) F(cuCtxCreate, 12050, _v4) \
	F(cuCtxDestroy, 2000,) F(cuCtxDestroy, 4000, _v2) F(cuCtxDisablePeerAccess, 4000,) \
	F(cuCtxEnablePeerAccess, 4000,) F(cuCtxGetApiVersion, 3020,) \
	F(cuCtxGetCacheConfig, 3020,) F(cuCtxGetCurrent, 4000,) F(cuCtxGetDevice, 2000,) \
	F(cuCtxGetDevice, 13000, _v2) F(cuCtxGetFlags, 7000,) F(cuCtxGetId, 12000,) \
	F(cuCtxGetLimit, 3010,) F(cuCtxGetStreamPriorityRange, 5050,) F(cuCtxPopCurrent, 2000,) \
	F(cuCtxPopCurrent, 4000, _v2) F(cuCtxPushCurrent, 2000,) F(cuCtxPushCurrent, 4000, _v2) \
	F(cuCtxSetCacheConfig, 3020,) F(cuCtxSetCurrent, 4000,) F(cuCtxSetFlags, 12010,) \
	F(cuCtxSetLimit, 3010,) F(cuCtxSynchronize, 2000,) F(cuCtxSynchronize, 13000, _v2) \
	F(cuDeviceCanAccessPeer, 4000,) F(cuDeviceComputeCapability, 2000,) F(cuDeviceGet, 2000,) \
	F(cuDeviceGetAttribute, 2000,) F(cuDeviceGetByPCIBusId, 4010,) F(cuDeviceGetCount, 2000,) \
	F(cuDeviceGetDefaultMemPool, 11020,) F(cuDeviceGetMemPool, 11020,) \
	F(cuDeviceGetName, 2000,) F(cuDeviceGetP2PAttribute, 8000,) F(cuDeviceGetPCIBusId, 4010,) \
	F(cuDeviceGetUuid, 9020,) F(cuDeviceGetUuid, 11040, _v2) \
	F(cuDevicePrimaryCtxGetState, 7000,) F(cuDevicePrimaryCtxRelease, 7000,) \
	F(cuDevicePrimaryCtxRelease, 11000, _v2) F(cuDevicePrimaryCtxReset, 7000,) \
	F(cuDevicePrimaryCtxReset, 11000, _v2) F(cuDevicePrimaryCtxRetain, 7000,) \
	F(cuDevicePrimaryCtxSetFlags, 7000,) F(cuDevicePrimaryCtxSetFlags, 11000, _v2) \
	F(cuDeviceSetMemPool, 11020,) F(cuDeviceTotalMem, 3020, _v2) F(cuDriverGetVersion, 2020,) \
	F(cuEventCreate, 2000,) F(cuEventDestroy, 2000,) F(cuEventDestroy, 4000, _v2) \
	F(cuEventElapsedTime, 2000,) F(cuEventElapsedTime, 12080, _v2) F(cuEventQuery, 2000,) \
	F(cuEventRecord, 2000,) P(cuEventRecord, 7000, _ptsz) F(cuEventRecordWithFlags, 11010,) \
	P(cuEventRecordWithFlags, 11010, _ptsz) F(cuEventSynchronize, 2000,) \
	F(cuFuncGetAttribute, 2020,) F(cuFuncGetModule, 11000,) F(cuFuncGetName, 12030,) \
	F(cuFuncGetParamInfo, 12040,) F(cuFuncIsLoaded, 12040,) F(cuFuncLoad, 12040,) \
	F(cuFuncSetAttribute, 9000,) F(cuFuncSetCacheConfig, 3000,) F(cuGetErrorName, 6000,) \
	F(cuGetErrorString, 6000,) F(cuGetExportTable, 3000,) F(cuGetProcAddress, 11030,) \
	F(cuGetProcAddress, 12000, _v2) F(cuGraphAddDependencies, 10000,) \
	F(cuGraphAddDependencies, 12030, _v2) F(cuGraphAddEmptyNode, 10000,) \
	F(cuGraphAddHostNode, 10000,) F(cuGraphAddKernelNode, 12000, _v2) \
	F(cuGraphAddMemcpyNode, 10000,) F(cuGraphAddMemsetNode, 10000,) F(cuGraphClone, 10000,) \
	F(cuGraphCreate, 10000,) F(cuGraphDestroy, 10000,) F(cuGraphDestroyNode, 10000,) \
	F(cuGraphExecDestroy, 10000,) F(cuGraphExecGetFlags, 12000,) \
	F(cuGraphExecKernelNodeSetParams, 12000, _v2) F(cuGraphExecUpdate, 12000, _v2) \
	F(cuGraphGetEdges, 10000,) F(cuGraphGetEdges, 12030, _v2) F(cuGraphGetNodes, 10000,) \
	F(cuGraphGetRootNodes, 10000,) F(cuGraphInstantiateWithFlags, 11040,) \
	F(cuGraphInstantiateWithParams, 12000,) P(cuGraphInstantiateWithParams, 12000, _ptsz) \
	F(cuGraphKernelNodeGetParams, 12000, _v2) F(cuGraphKernelNodeSetParams, 12000, _v2) \
	F(cuGraphLaunch, 10000,) P(cuGraphLaunch, 10000, _ptsz) F(cuGraphNodeGetType, 10000,) \
	F(cuGraphUpload, 11010,) P(cuGraphUpload, 11010, _ptsz) F(cuInit, 2000,) \
	F(cuKernelGetAttribute, 12000,) F(cuKernelGetFunction, 12000,) \
	F(cuKernelGetLibrary, 12050,) F(cuKernelGetName, 12030,) F(cuKernelGetParamInfo, 12040,) \
	F(cuKernelSetAttribute, 12000,) F(cuKernelSetCacheConfig, 12000,) \
	F(cuLaunchCooperativeKernel, 9000,) P(cuLaunchCooperativeKernel, 9000, _ptsz) \
	F(cuLaunchHostFunc, 10000,) P(cuLaunchHostFunc, 10000, _ptsz) F(cuLaunchKernel, 4000,) \
	P(cuLaunchKernel, 7000, _ptsz) F(cuLaunchKernelEx, 11060,) \
	P(cuLaunchKernelEx, 11060, _ptsz) F(cuLibraryEnumerateKernels, 12040,) \
	F(cuLibraryGetGlobal, 12000,) F(cuLibraryGetKernel, 12000,) \
	F(cuLibraryGetKernelCount, 12040,) F(cuLibraryGetModule, 12000,) \
	F(cuLibraryLoadData, 12000,) F(cuLibraryLoadFromFile, 12000,) F(cuLibraryUnload, 12000,) \
	F(cuMemAddressFree, 10020,) F(cuMemAddressReserve, 10020,) F(cuMemAdvise, 8000,) \
	F(cuMemAdvise, 12020, _v2) F(cuMemAlloc, 3020, _v2) F(cuMemAllocAsync, 11020,) \
	P(cuMemAllocAsync, 11020, _ptsz) F(cuMemAllocFromPoolAsync, 11020,) \
	P(cuMemAllocFromPoolAsync, 11020, _ptsz) F(cuMemAllocHost, 3020, _v2) \
	F(cuMemAllocManaged, 6000,) F(cuMemAllocPitch, 3020, _v2) F(cuMemCreate, 10020,) \
	F(cuMemFree, 3020, _v2) F(cuMemFreeAsync, 11020,) P(cuMemFreeAsync, 11020, _ptsz) \
	F(cuMemFreeHost, 2000,) F(cuMemGetAccess, 10020,) F(cuMemGetAddressRange, 3020, _v2) \
	F(cuMemGetAllocationGranularity, 10020,) \
	F(cuMemGetAllocationPropertiesFromHandle, 10020,) F(cuMemGetInfo, 3020, _v2) \
	F(cuMemHostAlloc, 2020,) F(cuMemHostGetDevicePointer, 3020, _v2) \
	F(cuMemHostGetFlags, 2030,) F(cuMemHostRegister, 4000,) F(cuMemHostRegister, 6050, _v2) \
	F(cuMemHostUnregister, 4000,) F(cuMemMap, 10020,) F(cuMemPoolCreate, 11020,) \
	F(cuMemPoolDestroy, 11020,) F(cuMemPoolGetAttribute, 11020,) \
	F(cuMemPoolSetAttribute, 11020,) F(cuMemPoolTrimTo, 11020,) F(cuMemPrefetchAsync, 8000,) \
	P(cuMemPrefetchAsync, 8000, _ptsz) F(cuMemPrefetchAsync, 12020, _v2) \
	P(cuMemPrefetchAsync, 12020, _v2_ptsz) F(cuMemRelease, 10020,) \
	F(cuMemRetainAllocationHandle, 11000,) F(cuMemSetAccess, 10020,) F(cuMemUnmap, 10020,) \
	F(cuMemcpy, 4000,) P(cuMemcpy, 7000, _ptds) F(cuMemcpy2D, 3020, _v2) \
	P(cuMemcpy2D, 7000, _v2_ptds) F(cuMemcpy2DAsync, 3020, _v2) \
	P(cuMemcpy2DAsync, 7000, _v2_ptsz) F(cuMemcpy2DUnaligned, 3020, _v2) \
	P(cuMemcpy2DUnaligned, 7000, _v2_ptds) F(cuMemcpy3D, 3020, _v2) \
	P(cuMemcpy3D, 7000, _v2_ptds) F(cuMemcpy3DAsync, 3020, _v2) \
	P(cuMemcpy3DAsync, 7000, _v2_ptsz) F(cuMemcpyAsync, 4000,) P(cuMemcpyAsync, 7000, _ptsz) \
	F(cuMemcpyDtoD, 3020, _v2) P(cuMemcpyDtoD, 7000, _v2_ptds) \
	F(cuMemcpyDtoDAsync, 3020, _v2) P(cuMemcpyDtoDAsync, 7000, _v2_ptsz) \
	F(cuMemcpyDtoH, 3020, _v2) P(cuMemcpyDtoH, 7000, _v2_ptds) \
	F(cuMemcpyDtoHAsync, 3020, _v2) P(cuMemcpyDtoHAsync, 7000, _v2_ptsz) \
	F(cuMemcpyHtoD, 3020, _v2) P(cuMemcpyHtoD, 7000, _v2_ptds) \
	F(cuMemcpyHtoDAsync, 3020, _v2) P(cuMemcpyHtoDAsync, 7000, _v2_ptsz) \
	F(cuMemcpyPeer, 4000,) P(cuMemcpyPeer, 7000, _ptds) F(cuMemcpyPeerAsync, 4000,) \
	P(cuMemcpyPeerAsync, 7000, _ptsz) F(cuMemsetD16, 3020, _v2) \
	P(cuMemsetD16, 7000, _v2_ptds) F(cuMemsetD16Async, 3020,) \
	P(cuMemsetD16Async, 7000, _ptsz) F(cuMemsetD2D16, 3020, _v2) \
	P(cuMemsetD2D16, 7000, _v2_ptds) F(cuMemsetD2D16Async, 3020,) \
	P(cuMemsetD2D16Async, 7000, _ptsz) F(cuMemsetD2D32, 3020, _v2) \
	P(cuMemsetD2D32, 7000, _v2_ptds) F(cuMemsetD2D32Async, 3020,) \
	P(cuMemsetD2D32Async, 7000, _ptsz) F(cuMemsetD2D8, 3020, _v2) \
	P(cuMemsetD2D8, 7000, _v2_ptds) F(cuMemsetD2D8Async, 3020,) \
	P(cuMemsetD2D8Async, 7000, _ptsz) F(cuMemsetD32, 3020, _v2) \
	P(cuMemsetD32, 7000, _v2_ptds) F(cuMemsetD32Async, 3020,) \
	P(cuMemsetD32Async, 7000, _ptsz) F(cuMemsetD8, 3020, _v2) P(cuMemsetD8, 7000, _v2_ptds) \
	F(cuMemsetD8Async, 3020,) P(cuMemsetD8Async, 7000, _ptsz) \
	F(cuModuleEnumerateFunctions, 12040,) F(cuModuleGetFunction, 2000,) \
	F(cuModuleGetFunctionCount, 12040,) F(cuModuleGetGlobal, 3020, _v2) \
	F(cuModuleGetLoadingMode, 11070,) F(cuModuleLoad, 2000,) F(cuModuleLoadData, 2000,) \
	F(cuModuleLoadDataEx, 2010,) F(cuModuleLoadFatBinary, 2000,) F(cuModuleUnload, 2000,) \
	F(cuOccupancyAvailableDynamicSMemPerBlock, 10020,) \
	F(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,) \
	F(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,) \
	F(cuOccupancyMaxPotentialBlockSize, 6050,) \
	F(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000,) F(cuPointerGetAttribute, 4000,) \
	F(cuPointerGetAttributes, 7000,) F(cuProfilerStart, 4000,) F(cuProfilerStop, 4000,) \
	F(cuStreamAddCallback, 5000,) P(cuStreamAddCallback, 7000, _ptsz) \
	F(cuStreamBeginCapture, 10010, _v2) P(cuStreamBeginCapture, 10010, _v2_ptsz) \
	F(cuStreamCreate, 2000,) F(cuStreamCreateWithPriority, 5050,) F(cuStreamDestroy, 2000,) \
	F(cuStreamDestroy, 4000, _v2) F(cuStreamEndCapture, 10000,) \
	P(cuStreamEndCapture, 10000, _ptsz) F(cuStreamGetCaptureInfo, 10010,) \
	P(cuStreamGetCaptureInfo, 10010, _ptsz) F(cuStreamGetCaptureInfo, 11030, _v2) \
	P(cuStreamGetCaptureInfo, 11030, _v2_ptsz) F(cuStreamGetCaptureInfo, 12030, _v3) \
	P(cuStreamGetCaptureInfo, 12030, _v3_ptsz) F(cuStreamGetCtx, 9020,) \
	P(cuStreamGetCtx, 9020, _ptsz) F(cuStreamGetCtx, 12050, _v2) \
	P(cuStreamGetCtx, 12050, _v2_ptsz) F(cuStreamGetDevice, 12080,) \
	P(cuStreamGetDevice, 12080, _ptsz) F(cuStreamGetFlags, 5050,) \
	P(cuStreamGetFlags, 7000, _ptsz) F(cuStreamGetId, 12000,) P(cuStreamGetId, 12000, _ptsz) \
	F(cuStreamGetPriority, 5050,) P(cuStreamGetPriority, 7000, _ptsz) \
	F(cuStreamIsCapturing, 10000,) P(cuStreamIsCapturing, 10000, _ptsz) \
	F(cuStreamQuery, 2000,) P(cuStreamQuery, 7000, _ptsz) F(cuStreamSetAttribute, 11000,) \
	P(cuStreamSetAttribute, 11000, _ptsz) F(cuStreamSynchronize, 2000,) \
	P(cuStreamSynchronize, 7000, _ptsz) F(cuStreamWaitEvent, 3020,) \
	P(cuStreamWaitEvent, 7000, _ptsz) F(cuStreamWaitValue32, 11070, _v2) \
	P(cuStreamWaitValue32, 11070, _v2_ptsz) F(cuStreamWaitValue64, 11070, _v2) \
	P(cuStreamWaitValue64, 11070, _v2_ptsz) F(cuStreamWriteValue32, 11070, _v2) \
	P(cuStreamWriteValue32, 11070, _v2_ptsz) F(cuStreamWriteValue64, 11070, _v2) \
	P(cuStreamWriteValue64, 11070, _v2_ptsz) F(cuThreadExchangeStreamCaptureMode, 10010,)
/* clang-format on */
#endif
