# External data of a model may be in other files of its directory. Links must not lead out of it, unless the model is a link itself.
# needs: onnx
# stdout: y = f32[4] {2, 3, 4, 5}
# stdout: below: 0
# stdout: y = f32[4] {2, 3, 4, 5}
# stdout: a link that stays: 0
# stdout: a link to a file elsewhere: 3
# stdout: a link to a directory elsewhere: 3
# stdout: a directory: 3
# stdout: a link to itself: 3
# stdout: a device: 3
# stdout: y = f32[4] {2, 3, 4, 5}
# stdout: all of them links: 0
# stderr: m/model.onnx: error: tensor 'w': external data 'data/weights' is outside the directory of the model
# stderr: m/model.onnx: error: tensor 'w': external data is not a regular file
# stderr: m/model.onnx: error: tensor 'w': cannot read external data 'data/weights': Too many levels of symbolic links
see() { $HLO run m/model.onnx '{1, 2, 3, 4}'; echo "$1: $?"; }
mkdir -p m/data m/more elsewhere
cp "$HERE/../onnx/external.onnx" m/model.onnx
printf '\0\0\200\077\0\0\200\077\0\0\200\077\0\0\200\077' >m/data/weights
cp m/data/weights elsewhere/weights
see below
mv m/data/weights m/more/w && ln -s ../more/w m/data/weights
see 'a link that stays'
ln -sf ../../elsewhere/weights m/data/weights
see 'a link to a file elsewhere'
rm -r m/data && ln -s ../elsewhere m/data
see 'a link to a directory elsewhere'
rm m/data && mkdir -p m/data/weights
see 'a directory'
rmdir m/data/weights && ln -s weights m/data/weights
see 'a link to itself'
ln -sf /dev/zero m/data/weights
see 'a device'
ln -sf ../../elsewhere/weights m/data/weights && mv m/model.onnx elsewhere/xyz && ln -s ../elsewhere/xyz m/model.onnx
see 'all of them links'
