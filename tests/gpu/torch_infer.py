# Inference with a small transformer encoder, several requests of different lengths. Usage:
# torch_infer.py [REQUESTS]
import sys

import torch

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda().half().eval()
total = 0.0
with torch.inference_mode():
    for i in range(n):
        x = torch.randn(4, 32 + 16 * (i % 8), 512).cuda().half()
        total += model(x).float().mean().item()
print(f"{n} requests, {total:.6f}")
