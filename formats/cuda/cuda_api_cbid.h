/* The numbers by which CUPTI calls the driver functions that make a GPU work
 * (CUpti_driver_api_trace_cbid, CUDA 11.8 to 13.0: a number once given stays). */
#ifndef GT_CUDA_API_CBID_H
#define GT_CUDA_API_CBID_H

#include <stdint.h>

/* Name of the function with this number; NULL: it is not in the list. */
const char *gt_cuda_driver_name(uint32_t cbid);

/* clang-format off */
#define GT_CBIDS(X) \
	X(43, cuMemcpyHtoD) X(45, cuMemcpyDtoH) X(47, cuMemcpyDtoD) X(49, cuMemcpyDtoA) \
	X(51, cuMemcpyAtoD) X(53, cuMemcpyHtoA) X(54, cuMemcpyAtoH) X(55, cuMemcpyAtoA) \
	X(56, cuMemcpy2D) X(57, cuMemcpy2DUnaligned) X(58, cuMemcpy3D) X(60, cuMemcpyHtoDAsync) \
	X(62, cuMemcpyDtoHAsync) X(64, cuMemcpyDtoDAsync) X(66, cuMemcpyHtoAAsync) \
	X(67, cuMemcpyAtoHAsync) X(68, cuMemcpy2DAsync) X(69, cuMemcpy3DAsync) X(71, cuMemsetD8) \
	X(73, cuMemsetD16) X(75, cuMemsetD32) X(77, cuMemsetD2D8) X(79, cuMemsetD2D16) \
	X(81, cuMemsetD2D32) X(115, cuLaunch) X(116, cuLaunchGrid) X(117, cuLaunchGridAsync) \
	X(216, cuMemsetD8Async) X(218, cuMemsetD16Async) X(220, cuMemsetD32Async) \
	X(222, cuMemsetD2D8Async) X(224, cuMemsetD2D16Async) X(226, cuMemsetD2D32Async) \
	X(249, cuMemsetD8_v2) X(250, cuMemsetD16_v2) X(251, cuMemsetD32_v2) \
	X(252, cuMemsetD2D8_v2) X(253, cuMemsetD2D16_v2) X(254, cuMemsetD2D32_v2) \
	X(276, cuMemcpyHtoD_v2) X(277, cuMemcpyHtoDAsync_v2) X(278, cuMemcpyDtoH_v2) \
	X(279, cuMemcpyDtoHAsync_v2) X(280, cuMemcpyDtoD_v2) X(281, cuMemcpyDtoDAsync_v2) \
	X(282, cuMemcpyAtoH_v2) X(283, cuMemcpyAtoHAsync_v2) X(284, cuMemcpyAtoD_v2) \
	X(285, cuMemcpyDtoA_v2) X(286, cuMemcpyAtoA_v2) X(287, cuMemcpy2D_v2) \
	X(288, cuMemcpy2DUnaligned_v2) X(289, cuMemcpy2DAsync_v2) X(290, cuMemcpy3D_v2) \
	X(291, cuMemcpy3DAsync_v2) X(292, cuMemcpyHtoA_v2) X(293, cuMemcpyHtoAAsync_v2) \
	X(305, cuMemcpy) X(306, cuMemcpyAsync) X(307, cuLaunchKernel) X(318, cuMemcpyPeer) \
	X(319, cuMemcpyPeerAsync) X(320, cuMemcpy3DPeer) X(321, cuMemcpy3DPeerAsync) \
	X(397, cuMemcpyHtoD_v2_ptds) X(398, cuMemcpyDtoH_v2_ptds) X(399, cuMemcpyDtoD_v2_ptds) \
	X(400, cuMemcpyDtoA_v2_ptds) X(401, cuMemcpyAtoD_v2_ptds) X(402, cuMemcpyHtoA_v2_ptds) \
	X(403, cuMemcpyAtoH_v2_ptds) X(404, cuMemcpyAtoA_v2_ptds) X(405, cuMemcpy2D_v2_ptds) \
	X(406, cuMemcpy2DUnaligned_v2_ptds) X(407, cuMemcpy3D_v2_ptds) X(408, cuMemcpy_ptds) \
	X(409, cuMemcpyPeer_ptds) X(410, cuMemcpy3DPeer_ptds) X(411, cuMemsetD8_v2_ptds) \
	X(412, cuMemsetD16_v2_ptds) X(413, cuMemsetD32_v2_ptds) X(414, cuMemsetD2D8_v2_ptds) \
	X(415, cuMemsetD2D16_v2_ptds) X(416, cuMemsetD2D32_v2_ptds) X(418, cuMemcpyAsync_ptsz) \
	X(419, cuMemcpyHtoAAsync_v2_ptsz) X(420, cuMemcpyAtoHAsync_v2_ptsz) \
	X(421, cuMemcpyHtoDAsync_v2_ptsz) X(422, cuMemcpyDtoHAsync_v2_ptsz) \
	X(423, cuMemcpyDtoDAsync_v2_ptsz) X(424, cuMemcpy2DAsync_v2_ptsz) \
	X(425, cuMemcpy3DAsync_v2_ptsz) X(426, cuMemcpyPeerAsync_ptsz) \
	X(427, cuMemcpy3DPeerAsync_ptsz) X(428, cuMemsetD8Async_ptsz) \
	X(429, cuMemsetD16Async_ptsz) X(430, cuMemsetD32Async_ptsz) \
	X(431, cuMemsetD2D8Async_ptsz) X(432, cuMemsetD2D16Async_ptsz) \
	X(433, cuMemsetD2D32Async_ptsz) X(442, cuLaunchKernel_ptsz) \
	X(477, cuLaunchCooperativeKernel) X(478, cuLaunchCooperativeKernel_ptsz) \
	X(480, cuLaunchCooperativeKernelMultiDevice) X(514, cuGraphLaunch) \
	X(515, cuGraphLaunch_ptsz) X(652, cuLaunchKernelEx) X(653, cuLaunchKernelEx_ptsz) \
	X(776, cuMemcpyBatchAsync) X(777, cuMemcpyBatchAsync_ptsz) X(778, cuMemcpy3DBatchAsync) \
	X(779, cuMemcpy3DBatchAsync_ptsz) X(796, cuMemcpyBatchAsync_v2) \
	X(797, cuMemcpyBatchAsync_v2_ptsz) X(798, cuMemcpy3DBatchAsync_v2) \
	X(799, cuMemcpy3DBatchAsync_v2_ptsz)
/* clang-format on */
#endif
