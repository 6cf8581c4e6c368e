/* The numbers by which CUPTI calls the functions of the CUDA runtime (CUpti_runtime_api_trace_cbid,
 * CUDA 11.8 to 13.0: a number once given stays), their names, and the version that CUPTI adds to
 * these (cudaLaunchKernel_v7000). */
#ifndef GT_CUDA_RUNTIME_CBID_H
#define GT_CUDA_RUNTIME_CBID_H

/* clang-format off */
#define GT_RUNTIME_CBIDS(X) \
	X(1, cudaDriverGetVersion, 3020) X(2, cudaRuntimeGetVersion, 3020) \
	X(3, cudaGetDeviceCount, 3020) X(4, cudaGetDeviceProperties, 3020) \
	X(5, cudaChooseDevice, 3020) X(6, cudaGetChannelDesc, 3020) \
	X(7, cudaCreateChannelDesc, 3020) X(8, cudaConfigureCall, 3020) \
	X(9, cudaSetupArgument, 3020) X(10, cudaGetLastError, 3020) \
	X(11, cudaPeekAtLastError, 3020) X(12, cudaGetErrorString, 3020) X(13, cudaLaunch, 3020) \
	X(14, cudaFuncSetCacheConfig, 3020) X(15, cudaFuncGetAttributes, 3020) \
	X(16, cudaSetDevice, 3020) X(17, cudaGetDevice, 3020) X(18, cudaSetValidDevices, 3020) \
	X(19, cudaSetDeviceFlags, 3020) X(20, cudaMalloc, 3020) X(21, cudaMallocPitch, 3020) \
	X(22, cudaFree, 3020) X(23, cudaMallocArray, 3020) X(24, cudaFreeArray, 3020) \
	X(25, cudaMallocHost, 3020) X(26, cudaFreeHost, 3020) X(27, cudaHostAlloc, 3020) \
	X(28, cudaHostGetDevicePointer, 3020) X(29, cudaHostGetFlags, 3020) \
	X(30, cudaMemGetInfo, 3020) X(31, cudaMemcpy, 3020) X(32, cudaMemcpy2D, 3020) \
	X(33, cudaMemcpyToArray, 3020) X(34, cudaMemcpy2DToArray, 3020) \
	X(35, cudaMemcpyFromArray, 3020) X(36, cudaMemcpy2DFromArray, 3020) \
	X(37, cudaMemcpyArrayToArray, 3020) X(38, cudaMemcpy2DArrayToArray, 3020) \
	X(39, cudaMemcpyToSymbol, 3020) X(40, cudaMemcpyFromSymbol, 3020) \
	X(41, cudaMemcpyAsync, 3020) X(42, cudaMemcpyToArrayAsync, 3020) \
	X(43, cudaMemcpyFromArrayAsync, 3020) X(44, cudaMemcpy2DAsync, 3020) \
	X(45, cudaMemcpy2DToArrayAsync, 3020) X(46, cudaMemcpy2DFromArrayAsync, 3020) \
	X(47, cudaMemcpyToSymbolAsync, 3020) X(48, cudaMemcpyFromSymbolAsync, 3020) \
	X(49, cudaMemset, 3020) X(50, cudaMemset2D, 3020) X(51, cudaMemsetAsync, 3020) \
	X(52, cudaMemset2DAsync, 3020) X(53, cudaGetSymbolAddress, 3020) \
	X(54, cudaGetSymbolSize, 3020) X(55, cudaBindTexture, 3020) \
	X(56, cudaBindTexture2D, 3020) X(57, cudaBindTextureToArray, 3020) \
	X(58, cudaUnbindTexture, 3020) X(59, cudaGetTextureAlignmentOffset, 3020) \
	X(60, cudaGetTextureReference, 3020) X(61, cudaBindSurfaceToArray, 3020) \
	X(62, cudaGetSurfaceReference, 3020) X(63, cudaGLSetGLDevice, 3020) \
	X(64, cudaGLRegisterBufferObject, 3020) X(65, cudaGLMapBufferObject, 3020) \
	X(66, cudaGLUnmapBufferObject, 3020) X(67, cudaGLUnregisterBufferObject, 3020) \
	X(68, cudaGLSetBufferObjectMapFlags, 3020) X(69, cudaGLMapBufferObjectAsync, 3020) \
	X(70, cudaGLUnmapBufferObjectAsync, 3020) X(71, cudaWGLGetDevice, 3020) \
	X(72, cudaGraphicsGLRegisterImage, 3020) X(73, cudaGraphicsGLRegisterBuffer, 3020) \
	X(74, cudaGraphicsUnregisterResource, 3020) X(75, cudaGraphicsResourceSetMapFlags, 3020) \
	X(76, cudaGraphicsMapResources, 3020) X(77, cudaGraphicsUnmapResources, 3020) \
	X(78, cudaGraphicsResourceGetMappedPointer, 3020) \
	X(79, cudaGraphicsSubResourceGetMappedArray, 3020) X(80, cudaVDPAUGetDevice, 3020) \
	X(81, cudaVDPAUSetVDPAUDevice, 3020) X(82, cudaGraphicsVDPAURegisterVideoSurface, 3020) \
	X(83, cudaGraphicsVDPAURegisterOutputSurface, 3020) X(84, cudaD3D11GetDevice, 3020) \
	X(85, cudaD3D11GetDevices, 3020) X(86, cudaD3D11SetDirect3DDevice, 3020) \
	X(87, cudaGraphicsD3D11RegisterResource, 3020) X(88, cudaD3D10GetDevice, 3020) \
	X(89, cudaD3D10GetDevices, 3020) X(90, cudaD3D10SetDirect3DDevice, 3020) \
	X(91, cudaGraphicsD3D10RegisterResource, 3020) X(92, cudaD3D10RegisterResource, 3020) \
	X(93, cudaD3D10UnregisterResource, 3020) X(94, cudaD3D10MapResources, 3020) \
	X(95, cudaD3D10UnmapResources, 3020) X(96, cudaD3D10ResourceSetMapFlags, 3020) \
	X(97, cudaD3D10ResourceGetSurfaceDimensions, 3020) \
	X(98, cudaD3D10ResourceGetMappedArray, 3020) \
	X(99, cudaD3D10ResourceGetMappedPointer, 3020) \
	X(100, cudaD3D10ResourceGetMappedSize, 3020) \
	X(101, cudaD3D10ResourceGetMappedPitch, 3020) X(102, cudaD3D9GetDevice, 3020) \
	X(103, cudaD3D9GetDevices, 3020) X(104, cudaD3D9SetDirect3DDevice, 3020) \
	X(105, cudaD3D9GetDirect3DDevice, 3020) X(106, cudaGraphicsD3D9RegisterResource, 3020) \
	X(107, cudaD3D9RegisterResource, 3020) X(108, cudaD3D9UnregisterResource, 3020) \
	X(109, cudaD3D9MapResources, 3020) X(110, cudaD3D9UnmapResources, 3020) \
	X(111, cudaD3D9ResourceSetMapFlags, 3020) \
	X(112, cudaD3D9ResourceGetSurfaceDimensions, 3020) \
	X(113, cudaD3D9ResourceGetMappedArray, 3020) \
	X(114, cudaD3D9ResourceGetMappedPointer, 3020) \
	X(115, cudaD3D9ResourceGetMappedSize, 3020) X(116, cudaD3D9ResourceGetMappedPitch, 3020) \
	X(117, cudaD3D9Begin, 3020) X(118, cudaD3D9End, 3020) \
	X(119, cudaD3D9RegisterVertexBuffer, 3020) X(120, cudaD3D9UnregisterVertexBuffer, 3020) \
	X(121, cudaD3D9MapVertexBuffer, 3020) X(122, cudaD3D9UnmapVertexBuffer, 3020) \
	X(123, cudaThreadExit, 3020) X(124, cudaSetDoubleForDevice, 3020) \
	X(125, cudaSetDoubleForHost, 3020) X(126, cudaThreadSynchronize, 3020) \
	X(127, cudaThreadGetLimit, 3020) X(128, cudaThreadSetLimit, 3020) \
	X(129, cudaStreamCreate, 3020) X(130, cudaStreamDestroy, 3020) \
	X(131, cudaStreamSynchronize, 3020) X(132, cudaStreamQuery, 3020) \
	X(133, cudaEventCreate, 3020) X(134, cudaEventCreateWithFlags, 3020) \
	X(135, cudaEventRecord, 3020) X(136, cudaEventDestroy, 3020) \
	X(137, cudaEventSynchronize, 3020) X(138, cudaEventQuery, 3020) \
	X(139, cudaEventElapsedTime, 3020) X(140, cudaMalloc3D, 3020) \
	X(141, cudaMalloc3DArray, 3020) X(142, cudaMemset3D, 3020) \
	X(143, cudaMemset3DAsync, 3020) X(144, cudaMemcpy3D, 3020) \
	X(145, cudaMemcpy3DAsync, 3020) X(146, cudaThreadSetCacheConfig, 3020) \
	X(147, cudaStreamWaitEvent, 3020) X(148, cudaD3D11GetDirect3DDevice, 3020) \
	X(149, cudaD3D10GetDirect3DDevice, 3020) X(150, cudaThreadGetCacheConfig, 3020) \
	X(151, cudaPointerGetAttributes, 4000) X(152, cudaHostRegister, 4000) \
	X(153, cudaHostUnregister, 4000) X(154, cudaDeviceCanAccessPeer, 4000) \
	X(155, cudaDeviceEnablePeerAccess, 4000) X(156, cudaDeviceDisablePeerAccess, 4000) \
	X(157, cudaPeerRegister, 4000) X(158, cudaPeerUnregister, 4000) \
	X(159, cudaPeerGetDevicePointer, 4000) X(160, cudaMemcpyPeer, 4000) \
	X(161, cudaMemcpyPeerAsync, 4000) X(162, cudaMemcpy3DPeer, 4000) \
	X(163, cudaMemcpy3DPeerAsync, 4000) X(164, cudaDeviceReset, 3020) \
	X(165, cudaDeviceSynchronize, 3020) X(166, cudaDeviceGetLimit, 3020) \
	X(167, cudaDeviceSetLimit, 3020) X(168, cudaDeviceGetCacheConfig, 3020) \
	X(169, cudaDeviceSetCacheConfig, 3020) X(170, cudaProfilerInitialize, 4000) \
	X(171, cudaProfilerStart, 4000) X(172, cudaProfilerStop, 4000) \
	X(173, cudaDeviceGetByPCIBusId, 4010) X(174, cudaDeviceGetPCIBusId, 4010) \
	X(175, cudaGLGetDevices, 4010) X(176, cudaIpcGetEventHandle, 4010) \
	X(177, cudaIpcOpenEventHandle, 4010) X(178, cudaIpcGetMemHandle, 4010) \
	X(179, cudaIpcOpenMemHandle, 4010) X(180, cudaIpcCloseMemHandle, 4010) \
	X(181, cudaArrayGetInfo, 4010) X(182, cudaFuncSetSharedMemConfig, 4020) \
	X(183, cudaDeviceGetSharedMemConfig, 4020) X(184, cudaDeviceSetSharedMemConfig, 4020) \
	X(185, cudaCreateTextureObject, 5000) X(186, cudaDestroyTextureObject, 5000) \
	X(187, cudaGetTextureObjectResourceDesc, 5000) \
	X(188, cudaGetTextureObjectTextureDesc, 5000) X(189, cudaCreateSurfaceObject, 5000) \
	X(190, cudaDestroySurfaceObject, 5000) X(191, cudaGetSurfaceObjectResourceDesc, 5000) \
	X(192, cudaMallocMipmappedArray, 5000) X(193, cudaGetMipmappedArrayLevel, 5000) \
	X(194, cudaFreeMipmappedArray, 5000) X(195, cudaBindTextureToMipmappedArray, 5000) \
	X(196, cudaGraphicsResourceGetMappedMipmappedArray, 5000) \
	X(197, cudaStreamAddCallback, 5000) X(198, cudaStreamCreateWithFlags, 5000) \
	X(199, cudaGetTextureObjectResourceViewDesc, 5000) X(200, cudaDeviceGetAttribute, 5000) \
	X(201, cudaStreamDestroy, 5050) X(202, cudaStreamCreateWithPriority, 5050) \
	X(203, cudaStreamGetPriority, 5050) X(204, cudaStreamGetFlags, 5050) \
	X(205, cudaDeviceGetStreamPriorityRange, 5050) X(206, cudaMallocManaged, 6000) \
	X(207, cudaOccupancyMaxActiveBlocksPerMultiprocessor, 6000) \
	X(208, cudaStreamAttachMemAsync, 6000) X(209, cudaGetErrorName, 6050) \
	X(210, cudaOccupancyMaxActiveBlocksPerMultiprocessor, 6050) \
	X(211, cudaLaunchKernel, 7000) X(212, cudaGetDeviceFlags, 7000) \
	X(213, cudaLaunch_ptsz, 7000) X(214, cudaLaunchKernel_ptsz, 7000) \
	X(215, cudaMemcpy_ptds, 7000) X(216, cudaMemcpy2D_ptds, 7000) \
	X(217, cudaMemcpyToArray_ptds, 7000) X(218, cudaMemcpy2DToArray_ptds, 7000) \
	X(219, cudaMemcpyFromArray_ptds, 7000) X(220, cudaMemcpy2DFromArray_ptds, 7000) \
	X(221, cudaMemcpyArrayToArray_ptds, 7000) X(222, cudaMemcpy2DArrayToArray_ptds, 7000) \
	X(223, cudaMemcpyToSymbol_ptds, 7000) X(224, cudaMemcpyFromSymbol_ptds, 7000) \
	X(225, cudaMemcpyAsync_ptsz, 7000) X(226, cudaMemcpyToArrayAsync_ptsz, 7000) \
	X(227, cudaMemcpyFromArrayAsync_ptsz, 7000) X(228, cudaMemcpy2DAsync_ptsz, 7000) \
	X(229, cudaMemcpy2DToArrayAsync_ptsz, 7000) X(230, cudaMemcpy2DFromArrayAsync_ptsz, 7000) \
	X(231, cudaMemcpyToSymbolAsync_ptsz, 7000) X(232, cudaMemcpyFromSymbolAsync_ptsz, 7000) \
	X(233, cudaMemset_ptds, 7000) X(234, cudaMemset2D_ptds, 7000) \
	X(235, cudaMemsetAsync_ptsz, 7000) X(236, cudaMemset2DAsync_ptsz, 7000) \
	X(237, cudaStreamGetPriority_ptsz, 7000) X(238, cudaStreamGetFlags_ptsz, 7000) \
	X(239, cudaStreamSynchronize_ptsz, 7000) X(240, cudaStreamQuery_ptsz, 7000) \
	X(241, cudaStreamAttachMemAsync_ptsz, 7000) X(242, cudaEventRecord_ptsz, 7000) \
	X(243, cudaMemset3D_ptds, 7000) X(244, cudaMemset3DAsync_ptsz, 7000) \
	X(245, cudaMemcpy3D_ptds, 7000) X(246, cudaMemcpy3DAsync_ptsz, 7000) \
	X(247, cudaStreamWaitEvent_ptsz, 7000) X(248, cudaStreamAddCallback_ptsz, 7000) \
	X(249, cudaMemcpy3DPeer_ptds, 7000) X(250, cudaMemcpy3DPeerAsync_ptsz, 7000) \
	X(251, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
	X(252, cudaMemPrefetchAsync, 8000) X(253, cudaMemPrefetchAsync_ptsz, 8000) \
	X(254, cudaMemAdvise, 8000) X(255, cudaDeviceGetP2PAttribute, 8000) \
	X(256, cudaGraphicsEGLRegisterImage, 7000) X(257, cudaEGLStreamConsumerConnect, 7000) \
	X(258, cudaEGLStreamConsumerDisconnect, 7000) \
	X(259, cudaEGLStreamConsumerAcquireFrame, 7000) \
	X(260, cudaEGLStreamConsumerReleaseFrame, 7000) \
	X(261, cudaEGLStreamProducerConnect, 7000) X(262, cudaEGLStreamProducerDisconnect, 7000) \
	X(263, cudaEGLStreamProducerPresentFrame, 7000) \
	X(264, cudaEGLStreamProducerReturnFrame, 7000) \
	X(265, cudaGraphicsResourceGetMappedEglFrame, 7000) \
	X(266, cudaMemRangeGetAttribute, 8000) X(267, cudaMemRangeGetAttributes, 8000) \
	X(268, cudaEGLStreamConsumerConnectWithFlags, 7000) \
	X(269, cudaLaunchCooperativeKernel, 9000) X(270, cudaLaunchCooperativeKernel_ptsz, 9000) \
	X(271, cudaEventCreateFromEGLSync, 9000) \
	X(272, cudaLaunchCooperativeKernelMultiDevice, 9000) X(273, cudaFuncSetAttribute, 9000) \
	X(274, cudaImportExternalMemory, 10000) X(275, cudaExternalMemoryGetMappedBuffer, 10000) \
	X(276, cudaExternalMemoryGetMappedMipmappedArray, 10000) \
	X(277, cudaDestroyExternalMemory, 10000) X(278, cudaImportExternalSemaphore, 10000) \
	X(279, cudaSignalExternalSemaphoresAsync, 10000) \
	X(280, cudaSignalExternalSemaphoresAsync_ptsz, 10000) \
	X(281, cudaWaitExternalSemaphoresAsync, 10000) \
	X(282, cudaWaitExternalSemaphoresAsync_ptsz, 10000) \
	X(283, cudaDestroyExternalSemaphore, 10000) X(284, cudaLaunchHostFunc, 10000) \
	X(285, cudaLaunchHostFunc_ptsz, 10000) X(286, cudaGraphCreate, 10000) \
	X(287, cudaGraphKernelNodeGetParams, 10000) X(288, cudaGraphKernelNodeSetParams, 10000) \
	X(289, cudaGraphAddKernelNode, 10000) X(290, cudaGraphAddMemcpyNode, 10000) \
	X(291, cudaGraphMemcpyNodeGetParams, 10000) X(292, cudaGraphMemcpyNodeSetParams, 10000) \
	X(293, cudaGraphAddMemsetNode, 10000) X(294, cudaGraphMemsetNodeGetParams, 10000) \
	X(295, cudaGraphMemsetNodeSetParams, 10000) X(296, cudaGraphAddHostNode, 10000) \
	X(297, cudaGraphHostNodeGetParams, 10000) X(298, cudaGraphAddChildGraphNode, 10000) \
	X(299, cudaGraphChildGraphNodeGetGraph, 10000) X(300, cudaGraphAddEmptyNode, 10000) \
	X(301, cudaGraphClone, 10000) X(302, cudaGraphNodeFindInClone, 10000) \
	X(303, cudaGraphNodeGetType, 10000) X(304, cudaGraphGetRootNodes, 10000) \
	X(305, cudaGraphNodeGetDependencies, 10000) X(306, cudaGraphNodeGetDependentNodes, 10000) \
	X(307, cudaGraphAddDependencies, 10000) X(308, cudaGraphRemoveDependencies, 10000) \
	X(309, cudaGraphDestroyNode, 10000) X(310, cudaGraphInstantiate, 10000) \
	X(311, cudaGraphLaunch, 10000) X(312, cudaGraphLaunch_ptsz, 10000) \
	X(313, cudaGraphExecDestroy, 10000) X(314, cudaGraphDestroy, 10000) \
	X(315, cudaStreamBeginCapture, 10000) X(316, cudaStreamBeginCapture_ptsz, 10000) \
	X(317, cudaStreamIsCapturing, 10000) X(318, cudaStreamIsCapturing_ptsz, 10000) \
	X(319, cudaStreamEndCapture, 10000) X(320, cudaStreamEndCapture_ptsz, 10000) \
	X(321, cudaGraphHostNodeSetParams, 10000) X(322, cudaGraphGetNodes, 10000) \
	X(323, cudaGraphGetEdges, 10000) X(324, cudaStreamGetCaptureInfo, 10010) \
	X(325, cudaStreamGetCaptureInfo_ptsz, 10010) \
	X(326, cudaGraphExecKernelNodeSetParams, 10010) \
	X(327, cudaThreadExchangeStreamCaptureMode, 10010) \
	X(328, cudaDeviceGetNvSciSyncAttributes, 10020) \
	X(329, cudaOccupancyAvailableDynamicSMemPerBlock, 10200) \
	X(330, cudaStreamSetFlags, 10200) X(331, cudaStreamSetFlags_ptsz, 10200) \
	X(332, cudaGraphExecMemcpyNodeSetParams, 10020) \
	X(333, cudaGraphExecMemsetNodeSetParams, 10020) \
	X(334, cudaGraphExecHostNodeSetParams, 10020) X(335, cudaGraphExecUpdate, 10020) \
	X(336, cudaGetFuncBySymbol, 11000) X(337, cudaCtxResetPersistingL2Cache, 11000) \
	X(338, cudaGraphKernelNodeCopyAttributes, 11000) \
	X(339, cudaGraphKernelNodeGetAttribute, 11000) \
	X(340, cudaGraphKernelNodeSetAttribute, 11000) X(341, cudaStreamCopyAttributes, 11000) \
	X(342, cudaStreamCopyAttributes_ptsz, 11000) X(343, cudaStreamGetAttribute, 11000) \
	X(344, cudaStreamGetAttribute_ptsz, 11000) X(345, cudaStreamSetAttribute, 11000) \
	X(346, cudaStreamSetAttribute_ptsz, 11000) \
	X(347, cudaDeviceGetTexture1DLinearMaxWidth, 11010) X(348, cudaGraphUpload, 10000) \
	X(349, cudaGraphUpload_ptsz, 10000) X(350, cudaGraphAddMemcpyNodeToSymbol, 11010) \
	X(351, cudaGraphAddMemcpyNodeFromSymbol, 11010) X(352, cudaGraphAddMemcpyNode1D, 11010) \
	X(353, cudaGraphMemcpyNodeSetParamsToSymbol, 11010) \
	X(354, cudaGraphMemcpyNodeSetParamsFromSymbol, 11010) \
	X(355, cudaGraphMemcpyNodeSetParams1D, 11010) \
	X(356, cudaGraphExecMemcpyNodeSetParamsToSymbol, 11010) \
	X(357, cudaGraphExecMemcpyNodeSetParamsFromSymbol, 11010) \
	X(358, cudaGraphExecMemcpyNodeSetParams1D, 11010) \
	X(359, cudaArrayGetSparseProperties, 11010) \
	X(360, cudaMipmappedArrayGetSparseProperties, 11010) \
	X(361, cudaGraphExecChildGraphNodeSetParams, 11010) \
	X(362, cudaGraphAddEventRecordNode, 11010) \
	X(363, cudaGraphEventRecordNodeGetEvent, 11010) \
	X(364, cudaGraphEventRecordNodeSetEvent, 11010) X(365, cudaGraphAddEventWaitNode, 11010) \
	X(366, cudaGraphEventWaitNodeGetEvent, 11010) \
	X(367, cudaGraphEventWaitNodeSetEvent, 11010) \
	X(368, cudaGraphExecEventRecordNodeSetEvent, 11010) \
	X(369, cudaGraphExecEventWaitNodeSetEvent, 11010) X(370, cudaEventRecordWithFlags, 11010) \
	X(371, cudaEventRecordWithFlags_ptsz, 11010) X(372, cudaDeviceGetDefaultMemPool, 11020) \
	X(373, cudaMallocAsync, 11020) X(374, cudaMallocAsync_ptsz, 11020) \
	X(375, cudaFreeAsync, 11020) X(376, cudaFreeAsync_ptsz, 11020) \
	X(377, cudaMemPoolTrimTo, 11020) X(378, cudaMemPoolSetAttribute, 11020) \
	X(379, cudaMemPoolGetAttribute, 11020) X(380, cudaMemPoolSetAccess, 11020) \
	X(381, cudaArrayGetPlane, 11020) X(382, cudaMemPoolGetAccess, 11020) \
	X(383, cudaMemPoolCreate, 11020) X(384, cudaMemPoolDestroy, 11020) \
	X(385, cudaDeviceSetMemPool, 11020) X(386, cudaDeviceGetMemPool, 11020) \
	X(387, cudaMemPoolExportToShareableHandle, 11020) \
	X(388, cudaMemPoolImportFromShareableHandle, 11020) \
	X(389, cudaMemPoolExportPointer, 11020) X(390, cudaMemPoolImportPointer, 11020) \
	X(391, cudaMallocFromPoolAsync, 11020) X(392, cudaMallocFromPoolAsync_ptsz, 11020) \
	X(393, cudaSignalExternalSemaphoresAsync, 11020) \
	X(394, cudaSignalExternalSemaphoresAsync_ptsz, 11020) \
	X(395, cudaWaitExternalSemaphoresAsync, 11020) \
	X(396, cudaWaitExternalSemaphoresAsync_ptsz, 11020) \
	X(397, cudaGraphAddExternalSemaphoresSignalNode, 11020) \
	X(398, cudaGraphExternalSemaphoresSignalNodeGetParams, 11020) \
	X(399, cudaGraphExternalSemaphoresSignalNodeSetParams, 11020) \
	X(400, cudaGraphAddExternalSemaphoresWaitNode, 11020) \
	X(401, cudaGraphExternalSemaphoresWaitNodeGetParams, 11020) \
	X(402, cudaGraphExternalSemaphoresWaitNodeSetParams, 11020) \
	X(403, cudaGraphExecExternalSemaphoresSignalNodeSetParams, 11020) \
	X(404, cudaGraphExecExternalSemaphoresWaitNodeSetParams, 11020) \
	X(405, cudaDeviceFlushGPUDirectRDMAWrites, 11030) X(406, cudaGetDriverEntryPoint, 11030) \
	X(407, cudaGetDriverEntryPoint_ptsz, 11030) X(408, cudaGraphDebugDotPrint, 11030) \
	X(409, cudaStreamGetCaptureInfo_v2, 11030) \
	X(410, cudaStreamGetCaptureInfo_v2_ptsz, 11030) \
	X(411, cudaStreamUpdateCaptureDependencies, 11030) \
	X(412, cudaStreamUpdateCaptureDependencies_ptsz, 11030) \
	X(413, cudaUserObjectCreate, 11030) X(414, cudaUserObjectRetain, 11030) \
	X(415, cudaUserObjectRelease, 11030) X(416, cudaGraphRetainUserObject, 11030) \
	X(417, cudaGraphReleaseUserObject, 11030) X(418, cudaGraphInstantiateWithFlags, 11040) \
	X(419, cudaGraphAddMemAllocNode, 11040) X(420, cudaGraphMemAllocNodeGetParams, 11040) \
	X(421, cudaGraphAddMemFreeNode, 11040) X(422, cudaGraphMemFreeNodeGetParams, 11040) \
	X(423, cudaDeviceGraphMemTrim, 11040) X(424, cudaDeviceGetGraphMemAttribute, 11040) \
	X(425, cudaDeviceSetGraphMemAttribute, 11040) X(426, cudaGraphNodeSetEnabled, 11060) \
	X(427, cudaGraphNodeGetEnabled, 11060) X(428, cudaArrayGetMemoryRequirements, 11060) \
	X(429, cudaMipmappedArrayGetMemoryRequirements, 11060) X(430, cudaLaunchKernelExC, 11060) \
	X(431, cudaLaunchKernelExC_ptsz, 11060) \
	X(432, cudaOccupancyMaxPotentialClusterSize, 11070) \
	X(433, cudaOccupancyMaxActiveClusters, 11070) X(434, cudaCreateTextureObject_v2, 11080) \
	X(435, cudaGetTextureObjectTextureDesc_v2, 11080) \
	X(436, cudaGraphInstantiateWithParams, 12000) \
	X(437, cudaGraphInstantiateWithParams_ptsz, 12000) X(438, cudaGraphExecGetFlags, 12000) \
	X(439, cudaGetKernel, 12000) X(440, cudaGetDeviceProperties, 12000) \
	X(441, cudaStreamGetId, 12000) X(442, cudaStreamGetId_ptsz, 12000) \
	X(443, cudaGraphInstantiate, 12000) X(444, cudaInitDevice, 12000) \
	X(445, cudaGraphAddNode, 12020) X(446, cudaGraphNodeSetParams, 12020) \
	X(447, cudaGraphExecNodeSetParams, 12020) X(448, cudaMemAdvise, 12020) \
	X(449, cudaMemPrefetchAsync, 12020) X(450, cudaMemPrefetchAsync_ptsz, 12020) \
	X(451, cudaFuncGetName, 12030) X(452, cudaStreamBeginCaptureToGraph, 12030) \
	X(453, cudaStreamBeginCaptureToGraph_ptsz, 12030) \
	X(454, cudaGraphConditionalHandleCreate, 12030) X(455, cudaGraphGetEdges, 12030) \
	X(456, cudaGraphNodeGetDependencies, 12030) X(457, cudaGraphNodeGetDependentNodes, 12030) \
	X(458, cudaGraphAddDependencies, 12030) X(459, cudaGraphRemoveDependencies, 12030) \
	X(460, cudaGraphAddNode, 12030) X(461, cudaStreamGetCaptureInfo, 12030) \
	X(462, cudaStreamGetCaptureInfo_ptsz, 12030) \
	X(463, cudaStreamUpdateCaptureDependencies, 12030) \
	X(464, cudaStreamUpdateCaptureDependencies_ptsz, 12030) \
	X(465, cudaDeviceRegisterAsyncNotification, 12040) \
	X(466, cudaDeviceUnregisterAsyncNotification, 12040) X(467, cudaFuncGetParamInfo, 12040) \
	X(468, cudaGetDriverEntryPointByVersion, 12050) \
	X(469, cudaGetDriverEntryPointByVersion_ptsz, 12050) X(470, cudaLibraryLoadData, 12060) \
	X(471, cudaLibraryLoadFromFile, 12060) X(472, cudaLibraryUnload, 12060) \
	X(473, cudaLibraryGetKernel, 12060) X(474, cudaLibraryGetGlobal, 12060) \
	X(475, cudaLibraryGetManaged, 12060) X(476, cudaLibraryGetUnifiedFunction, 12060) \
	X(477, cudaLibraryGetKernelCount, 12060) X(478, cudaLibraryEnumerateKernels, 12060) \
	X(479, cudaKernelSetAttributeForDevice, 12060) X(480, cudaStreamGetDevice, 12080) \
	X(481, cudaStreamGetDevice_ptsz, 12080) X(482, cudaMemcpyBatchAsync, 12080) \
	X(483, cudaMemcpyBatchAsync_ptsz, 12080) X(484, cudaMemcpy3DBatchAsync, 12080) \
	X(485, cudaMemcpy3DBatchAsync_ptsz, 12080) X(486, cudaEventElapsedTime, 12080) \
	X(487, cudaMemPrefetchBatchAsync, 13000) X(488, cudaMemPrefetchBatchAsync_ptsz, 13000) \
	X(489, cudaMemDiscardBatchAsync, 13000) X(490, cudaMemDiscardBatchAsync_ptsz, 13000) \
	X(491, cudaMemDiscardAndPrefetchBatchAsync, 13000) \
	X(492, cudaMemDiscardAndPrefetchBatchAsync_ptsz, 13000) X(493, cudaGetExportTable, 13000) \
	X(494, __cudaRegisterFatBinary, 13000) X(495, __cudaRegisterFatBinaryEnd, 13000) \
	X(496, __cudaUnregisterFatBinary, 13000) X(497, __cudaRegisterVar, 13000) \
	X(498, __cudaRegisterHostVar, 13000) X(499, __cudaRegisterFunction, 13000) \
	X(500, __cudaRegisterManagedVar, 13000) X(501, __cudaInitModule, 13000) \
	X(502, __cudaPushCallConfiguration, 13000) X(503, __cudaPopCallConfiguration, 13000) \
	X(504, __cudaGetKernel, 13000) X(505, __cudaLaunchKernel, 13000) \
	X(506, __cudaLaunchKernel_ptsz, 13000) X(507, __cudaRegisterUnifiedTable, 13000) \
	X(508, __cudaGetProcAddress, 13000) X(509, cudaMemcpyBatchAsync, 13000) \
	X(510, cudaMemcpyBatchAsync_ptsz, 13000) X(511, cudaMemcpy3DBatchAsync, 13000) \
	X(512, cudaMemcpy3DBatchAsync_ptsz, 13000) X(513, cudaLogsRegisterCallback, 13000) \
	X(514, cudaLogsUnregisterCallback, 13000) X(515, cudaLogsCurrent, 13000) \
	X(516, cudaLogsDumpToFile, 13000) X(517, cudaLogsDumpToMemory, 13000) \
	X(518, cudaMemGetDefaultMemPool, 13000) X(519, cudaMemGetMemPool, 13000) \
	X(520, cudaMemSetMemPool, 13000) X(521, cudaDeviceGetHostAtomicCapabilities, 13000) \
	X(522, cudaDeviceGetP2PAtomicCapabilities, 13000)
/* clang-format on */
#endif
