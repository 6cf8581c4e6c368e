/* CUPTI's numbers (CUPTI_DRIVER_TRACE_CBID_*) of all entry points of the simulated driver, and the
 * end of the numbers of driver and runtime. */
#ifndef SIM_CUPTI_CBIDS_H
#define SIM_CUPTI_CBIDS_H
#define SIM_CBIDS_END 807
#define SIM_RUNTIME_CBIDS_END 523
/* clang-format off */
#define SIM_CBIDS(X) \
	X(cuArray3DCreate_v2, 274) X(cuArray3DGetDescriptor_v2, 275) X(cuArrayCreate_v2, 272) \
	X(cuArrayDestroy, 89) X(cuArrayGetDescriptor_v2, 273) X(cuCtxCreate_v2, 235) \
	X(cuCtxCreate_v3, 645) X(cuCtxCreate_v4, 757) X(cuCtxDestroy, 11) X(cuCtxDestroy_v2, 322) \
	X(cuCtxDisablePeerAccess, 314) X(cuCtxEnablePeerAccess, 313) X(cuCtxGetApiVersion, 296) \
	X(cuCtxGetCacheConfig, 299) X(cuCtxGetCurrent, 304) X(cuCtxGetDevice, 16) \
	X(cuCtxGetDevice_v2, 795) X(cuCtxGetFlags, 391) X(cuCtxGetId, 695) X(cuCtxGetLimit, 137) \
	X(cuCtxGetStreamPriorityRange, 370) X(cuCtxPopCurrent, 15) X(cuCtxPopCurrent_v2, 324) \
	X(cuCtxPushCurrent, 14) X(cuCtxPushCurrent_v2, 323) X(cuCtxSetCacheConfig, 300) \
	X(cuCtxSetCurrent, 303) X(cuCtxSetFlags, 705) X(cuCtxSetLimit, 136) \
	X(cuCtxSynchronize, 17) X(cuCtxSynchronize_v2, 800) X(cuDeviceCanAccessPeer, 312) \
	X(cuDeviceComputeCapability, 6) X(cuDeviceGet, 3) X(cuDeviceGetAttribute, 9) \
	X(cuDeviceGetByPCIBusId, 331) X(cuDeviceGetCount, 4) X(cuDeviceGetDefaultMemPool, 606) \
	X(cuDeviceGetMemPool, 610) X(cuDeviceGetName, 5) X(cuDeviceGetP2PAttribute, 454) \
	X(cuDeviceGetPCIBusId, 332) X(cuDeviceGetUuid, 482) X(cuDeviceGetUuid_v2, 647) \
	X(cuDevicePrimaryCtxGetState, 392) X(cuDevicePrimaryCtxRelease, 387) \
	X(cuDevicePrimaryCtxRelease_v2, 544) X(cuDevicePrimaryCtxReset, 389) \
	X(cuDevicePrimaryCtxReset_v2, 545) X(cuDevicePrimaryCtxRetain, 386) \
	X(cuDevicePrimaryCtxSetFlags, 388) X(cuDevicePrimaryCtxSetFlags_v2, 546) \
	X(cuDeviceSetMemPool, 609) X(cuDeviceTotalMem_v2, 259) X(cuDriverGetVersion, 2) \
	X(cuEventCreate, 118) X(cuEventDestroy, 122) X(cuEventDestroy_v2, 325) \
	X(cuEventElapsedTime, 123) X(cuEventElapsedTime_v2, 780) X(cuEventQuery, 120) \
	X(cuEventRecord, 119) X(cuEventRecordWithFlags, 587) X(cuEventRecordWithFlags_ptsz, 588) \
	X(cuEventRecord_ptsz, 441) X(cuEventSynchronize, 121) X(cuFuncGetAttribute, 85) \
	X(cuFuncGetModule, 566) X(cuFuncGetName, 718) X(cuFuncGetParamInfo, 733) \
	X(cuFuncIsLoaded, 741) X(cuFuncLoad, 742) X(cuFuncSetAttribute, 481) \
	X(cuFuncSetCacheConfig, 86) X(cuGetErrorName, 373) X(cuGetErrorString, 372) \
	X(cuGetExportTable, 135) X(cuGetProcAddress, 626) X(cuGetProcAddress_v2, 677) \
	X(cuGraphAddDependencies, 518) X(cuGraphAddDependencies_v2, 727) \
	X(cuGraphAddEmptyNode, 526) X(cuGraphAddHostNode, 530) X(cuGraphAddKernelNode_v2, 689) \
	X(cuGraphAddMemcpyNode, 504) X(cuGraphAddMemsetNode, 506) X(cuGraphClone, 523) \
	X(cuGraphCreate, 501) X(cuGraphDestroy, 517) X(cuGraphDestroyNode, 522) \
	X(cuGraphExecDestroy, 516) X(cuGraphExecGetFlags, 658) \
	X(cuGraphExecKernelNodeSetParams_v2, 692) X(cuGraphExecUpdate_v2, 696) \
	X(cuGraphGetEdges, 535) X(cuGraphGetEdges_v2, 724) X(cuGraphGetNodes, 534) \
	X(cuGraphGetRootNodes, 510) X(cuGraphInstantiateWithFlags, 643) \
	X(cuGraphInstantiateWithParams, 656) X(cuGraphInstantiateWithParams_ptsz, 657) \
	X(cuGraphKernelNodeGetParams_v2, 690) X(cuGraphKernelNodeSetParams_v2, 691) \
	X(cuGraphLaunch, 514) X(cuGraphLaunch_ptsz, 515) X(cuGraphNodeGetType, 509) \
	X(cuGraphUpload, 580) X(cuGraphUpload_ptsz, 581) X(cuInit, 1) \
	X(cuKernelGetAttribute, 686) X(cuKernelGetFunction, 683) X(cuKernelGetLibrary, 754) \
	X(cuKernelGetName, 719) X(cuKernelGetParamInfo, 734) X(cuKernelSetAttribute, 687) \
	X(cuKernelSetCacheConfig, 688) X(cuLaunchCooperativeKernel, 477) \
	X(cuLaunchCooperativeKernel_ptsz, 478) X(cuLaunchHostFunc, 527) \
	X(cuLaunchHostFunc_ptsz, 528) X(cuLaunchKernel, 307) X(cuLaunchKernelEx, 652) \
	X(cuLaunchKernelEx_ptsz, 653) X(cuLaunchKernel_ptsz, 442) \
	X(cuLibraryEnumerateKernels, 740) X(cuLibraryGetGlobal, 684) X(cuLibraryGetKernel, 681) \
	X(cuLibraryGetKernelCount, 739) X(cuLibraryGetModule, 682) X(cuLibraryLoadData, 678) \
	X(cuLibraryLoadFromFile, 679) X(cuLibraryUnload, 680) X(cuMemAddressFree, 548) \
	X(cuMemAddressReserve, 547) X(cuMemAdvise, 457) X(cuMemAdvise_v2, 715) \
	X(cuMemAllocAsync, 598) X(cuMemAllocAsync_ptsz, 599) X(cuMemAllocFromPoolAsync, 611) \
	X(cuMemAllocFromPoolAsync_ptsz, 612) X(cuMemAllocHost_v2, 294) X(cuMemAllocManaged, 371) \
	X(cuMemAllocPitch_v2, 244) X(cuMemAlloc_v2, 243) X(cuMemCreate, 549) \
	X(cuMemFreeAsync, 600) X(cuMemFreeAsync_ptsz, 601) X(cuMemFreeHost, 38) \
	X(cuMemFree_v2, 245) X(cuMemGetAccess, 558) X(cuMemGetAddressRange_v2, 246) \
	X(cuMemGetAllocationGranularity, 556) X(cuMemGetAllocationPropertiesFromHandle, 557) \
	X(cuMemGetInfo_v2, 242) X(cuMemHostAlloc, 39) X(cuMemHostGetDevicePointer_v2, 247) \
	X(cuMemHostGetFlags, 42) X(cuMemHostRegister, 301) X(cuMemHostRegister_v2, 379) \
	X(cuMemHostUnregister, 302) X(cuMemMap, 551) X(cuMemPoolCreate, 607) \
	X(cuMemPoolDestroy, 608) X(cuMemPoolGetAttribute, 604) X(cuMemPoolSetAttribute, 603) \
	X(cuMemPoolTrimTo, 602) X(cuMemPrefetchAsync, 467) X(cuMemPrefetchAsync_ptsz, 468) \
	X(cuMemPrefetchAsync_v2, 716) X(cuMemPrefetchAsync_v2_ptsz, 717) X(cuMemRelease, 550) \
	X(cuMemRetainAllocationHandle, 565) X(cuMemSetAccess, 553) X(cuMemUnmap, 552) \
	X(cuMemcpy, 305) X(cuMemcpy2DAsync_v2, 289) X(cuMemcpy2DAsync_v2_ptsz, 424) \
	X(cuMemcpy2DUnaligned_v2, 288) X(cuMemcpy2DUnaligned_v2_ptds, 406) X(cuMemcpy2D_v2, 287) \
	X(cuMemcpy2D_v2_ptds, 405) X(cuMemcpy3DAsync_v2, 291) X(cuMemcpy3DAsync_v2_ptsz, 425) \
	X(cuMemcpy3D_v2, 290) X(cuMemcpy3D_v2_ptds, 407) X(cuMemcpyAsync, 306) \
	X(cuMemcpyAsync_ptsz, 418) X(cuMemcpyDtoDAsync_v2, 281) X(cuMemcpyDtoDAsync_v2_ptsz, 423) \
	X(cuMemcpyDtoD_v2, 280) X(cuMemcpyDtoD_v2_ptds, 399) X(cuMemcpyDtoHAsync_v2, 279) \
	X(cuMemcpyDtoHAsync_v2_ptsz, 422) X(cuMemcpyDtoH_v2, 278) X(cuMemcpyDtoH_v2_ptds, 398) \
	X(cuMemcpyHtoDAsync_v2, 277) X(cuMemcpyHtoDAsync_v2_ptsz, 421) X(cuMemcpyHtoD_v2, 276) \
	X(cuMemcpyHtoD_v2_ptds, 397) X(cuMemcpyPeer, 318) X(cuMemcpyPeerAsync, 319) \
	X(cuMemcpyPeerAsync_ptsz, 426) X(cuMemcpyPeer_ptds, 409) X(cuMemcpy_ptds, 408) \
	X(cuMemsetD16Async, 218) X(cuMemsetD16Async_ptsz, 429) X(cuMemsetD16_v2, 250) \
	X(cuMemsetD16_v2_ptds, 412) X(cuMemsetD2D16Async, 224) X(cuMemsetD2D16Async_ptsz, 432) \
	X(cuMemsetD2D16_v2, 253) X(cuMemsetD2D16_v2_ptds, 415) X(cuMemsetD2D32Async, 226) \
	X(cuMemsetD2D32Async_ptsz, 433) X(cuMemsetD2D32_v2, 254) X(cuMemsetD2D32_v2_ptds, 416) \
	X(cuMemsetD2D8Async, 222) X(cuMemsetD2D8Async_ptsz, 431) X(cuMemsetD2D8_v2, 252) \
	X(cuMemsetD2D8_v2_ptds, 414) X(cuMemsetD32Async, 220) X(cuMemsetD32Async_ptsz, 430) \
	X(cuMemsetD32_v2, 251) X(cuMemsetD32_v2_ptds, 413) X(cuMemsetD8Async, 216) \
	X(cuMemsetD8Async_ptsz, 428) X(cuMemsetD8_v2, 249) X(cuMemsetD8_v2_ptds, 411) \
	X(cuModuleEnumerateFunctions, 738) X(cuModuleGetFunction, 23) \
	X(cuModuleGetFunctionCount, 737) X(cuModuleGetGlobal_v2, 241) \
	X(cuModuleGetLoadingMode, 673) X(cuModuleLoad, 18) X(cuModuleLoadData, 19) \
	X(cuModuleLoadDataEx, 20) X(cuModuleLoadFatBinary, 21) X(cuModuleUnload, 22) \
	X(cuOccupancyAvailableDynamicSMemPerBlock, 543) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 374) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 451) \
	X(cuOccupancyMaxPotentialBlockSize, 384) \
	X(cuOccupancyMaxPotentialBlockSizeWithFlags, 452) X(cuPointerGetAttribute, 310) \
	X(cuPointerGetAttributes, 450) X(cuProfilerStart, 308) X(cuProfilerStop, 309) \
	X(cuStreamAddCallback, 346) X(cuStreamAddCallback_ptsz, 437) \
	X(cuStreamBeginCapture_v2, 539) X(cuStreamBeginCapture_v2_ptsz, 540) \
	X(cuStreamCreate, 124) X(cuStreamCreateWithPriority, 367) X(cuStreamDestroy, 127) \
	X(cuStreamDestroy_v2, 326) X(cuStreamEndCapture, 497) X(cuStreamEndCapture_ptsz, 498) \
	X(cuStreamGetCaptureInfo, 536) X(cuStreamGetCaptureInfo_ptsz, 537) \
	X(cuStreamGetCaptureInfo_v2, 629) X(cuStreamGetCaptureInfo_v2_ptsz, 630) \
	X(cuStreamGetCaptureInfo_v3, 729) X(cuStreamGetCaptureInfo_v3_ptsz, 730) \
	X(cuStreamGetCtx, 483) X(cuStreamGetCtx_ptsz, 484) X(cuStreamGetCtx_v2, 759) \
	X(cuStreamGetCtx_v2_ptsz, 760) X(cuStreamGetDevice, 774) X(cuStreamGetDevice_ptsz, 775) \
	X(cuStreamGetFlags, 369) X(cuStreamGetFlags_ptsz, 435) X(cuStreamGetId, 693) \
	X(cuStreamGetId_ptsz, 694) X(cuStreamGetPriority, 368) X(cuStreamGetPriority_ptsz, 434) \
	X(cuStreamIsCapturing, 499) X(cuStreamIsCapturing_ptsz, 500) X(cuStreamQuery, 125) \
	X(cuStreamQuery_ptsz, 439) X(cuStreamSetAttribute, 576) X(cuStreamSetAttribute_ptsz, 577) \
	X(cuStreamSynchronize, 126) X(cuStreamSynchronize_ptsz, 440) X(cuStreamWaitEvent, 295) \
	X(cuStreamWaitEvent_ptsz, 436) X(cuStreamWaitValue32_v2, 659) \
	X(cuStreamWaitValue32_v2_ptsz, 660) X(cuStreamWaitValue64_v2, 661) \
	X(cuStreamWaitValue64_v2_ptsz, 662) X(cuStreamWriteValue32_v2, 663) \
	X(cuStreamWriteValue32_v2_ptsz, 664) X(cuStreamWriteValue64_v2, 665) \
	X(cuStreamWriteValue64_v2_ptsz, 666) X(cuThreadExchangeStreamCaptureMode, 541)
/* clang-format on */
#endif
