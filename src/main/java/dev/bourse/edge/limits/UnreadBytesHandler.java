package dev.bourse.edge.limits;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ByteProcessor;
import io.netty.util.ReferenceCountUtil;

/**
 * Stands before a connection's decoder and counts what stays in it or behind it: the decoder keeps
 * the head that is not complete, and Vert.x the requests behind one that is not answered, and
 * neither asks how much all of them keep together.
 */
final class UnreadBytesHandler extends ChannelInboundHandlerAdapter {
  /** A buffer is as large as the network's last few reads; from here on a short rest is copied. */
  private static final int SPACIOUS_BYTES = 4_096;

  private final Connections connections;
  private final OpenConnection connection;

  UnreadBytesHandler(Connections connections, OpenConnection connection) {
    this.connections = connections;
    this.connection = connection;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof ByteBuf read)) {
      context.fireChannelRead(message);
      return;
    }
    ByteBuf bytes = connection.isBetweenRequests() ? compact(context, read) : read;
    boolean isBehind = connection.isAnswering();
    boolean wasBetween = connection.isBetweenRequests();
    int entered = connection.entered();
    int start = bytes.readerIndex();
    int length = bytes.readableBytes();
    // What the decoder keeps has a second holder beside us; what it has gone through has not.
    bytes.retain();
    try {
      context.fireChannelRead(bytes);
      if (connection.isInBody()) {
        // Bodies are counted by whoever collects them.
        return;
      }
      boolean isPart =
          bytes.refCnt() > 1
              // Whole lines are gone through, and kept as headers of a head that goes on.
              || (wasBetween && connection.isBetweenRequests() && connection.entered() == entered)
              || (!connection.hadBody() && endsWithinHead(bytes, start, length));
      if (isPart || connection.isAnswering()) {
        connections.waits(
            connection, OpenConnection.weight(length, lines(bytes, start, length)), isPart);
        connection.isPipelined |= isBehind;
      } else {
        connection.settled();
      }
    } finally {
      bytes.release();
      if (!context.channel().isWritable()) {
        // Who does not take the answers gets to ask no more.
        context.channel().config().setAutoRead(false);
      }
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (context.channel().isWritable()) {
      context.channel().config().setAutoRead(true);
    }
    context.fireChannelWritabilityChanged();
  }

  /**
   * Drops what the decoder keeps, at once: a connection that is closed is let go of only in the
   * loop's next turn, and thousands of them may be cut in this one.
   */
  static void forget(ChannelPipeline pipeline) {
    ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
    if (decoder != null) {
      // It hands on what it has not read, which nobody behind it would release.
      pipeline.addAfter(decoder.name(), null, new Discarding());
      pipeline.remove(decoder.handler());
    }
  }

  /** Takes the bytes of a connection that is cut. */
  private static final class Discarding extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
    }
  }

  /** A few bytes in a buffer for many would hold all of it for as long as they wait. */
  private static ByteBuf compact(ChannelHandlerContext context, ByteBuf read) {
    if (read.capacity() <= SPACIOUS_BYTES || read.readableBytes() > read.capacity() / 2) {
      return read;
    }
    ByteBuf copy = context.alloc().buffer(read.readableBytes()).writeBytes(read);
    read.release();
    return copy;
  }

  /** Whether a line ends here that is not the empty one at the end of a head. */
  private static boolean endsWithinHead(ByteBuf bytes, int start, int length) {
    int last = start + length - 1;
    if (length < 2 || bytes.getByte(last) != '\n') {
      return false;
    }
    int before = bytes.getByte(last - 1) == '\r' ? last - 2 : last - 1;
    return before < start || bytes.getByte(before) != '\n';
  }

  private static int lines(ByteBuf bytes, int start, int length) {
    int lines = 0;
    int end = start + length;
    int at = start;
    while (at < end) {
      int found = bytes.forEachByte(at, end - at, ByteProcessor.FIND_LF);
      if (found < 0) {
        break;
      }
      lines++;
      at = found + 1;
    }
    return lines;
  }
}
