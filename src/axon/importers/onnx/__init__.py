"""ONNX models as Axon programs.

A model is one definition, `model`. Its nodes become calls of Axon's operators, one binding a node;
its weights are operators without arguments, declared by their types. The same inference types it
as any program.
"""
