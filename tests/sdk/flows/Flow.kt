package parley

// The classes as an app uses them: named fields, optional ones left out, null checked by the compiler.
fun main() {
    val request = SendMessageRequest(body = "Hello Bob!", clientID = "first-1")
    val draft = request.copy(body = request.body.trim(), replyToID = null)
    val kinds: List<MessageKind> = MessageKind.values().toList()
    val known = { message: Message -> message.body ?: message.media?.thumbURL ?: "" }
    println("${draft.body} ${draft.clientID} ${kinds.size} ${known.javaClass.simpleName.isNotEmpty()}")
}
