# Writes each launch of a CUDA kernel as C++ (include/cuda_runtime.h). The name and "<<<" are on one line.
s/([A-Za-z_0-9:]+(<[A-Za-z_0-9:, ]*>)?)<<</cuda_emulation::Launch(\1, /g
s/>>>\(/)(/g
