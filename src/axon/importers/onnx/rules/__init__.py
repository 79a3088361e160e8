"""What each operator of ONNX is in Axon, by family."""
