/* EyeLike: a work-item takes rows. */
__kernel void eye_like(__global PW_TYPE(out0) *out0, int rows, int columns, int k)
{
    for (int row = (int)get_global_id(0); row < rows; row += (int)get_global_size(0)) {
        for (int column = 0; column < columns; column++)
            PW_STORE(out0, (long)row * columns + column, (PW_COMPUTE(out0))(column - row == k ? 1 : 0));
    }
}
