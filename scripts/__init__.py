"""What developers run: generators, demonstrations, benchmarks. Not part of the package that users install."""
