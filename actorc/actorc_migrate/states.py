"""State variables: as locals where they stand if that means the same, otherwise declared further out.

A state lives from the call of the actor to its end, is made anew by its declaration, and is known in the whole actor.
In the outermost block a local is the same. In an inner block it would be destroyed at the end of the block. So it is
declared before the outermost statement around it, and its old declaration becomes an assignment.
"""

from __future__ import annotations

from actorc import syntax
from actorc.records import dataclass
from actorc.spelling import callable_type, is_constant, is_trivial, may_read_as_parameters, one_line
from actorc.syntax import Code, Span, StateDecl, StateForm, Statement
from actorc_migrate.common import Common, Place, UnconvertibleError
from actorc_migrate.edits import Part
from actorc_migrate.locals import Locals
from actorc_migrate.notes import Hazard
from actorc_migrate.spelling import converts, is_harmless, is_surely_assignable, is_surely_empty

_REACHING = frozenset({"&", "(", ","})


@dataclass(frozen=True, slots=True)
class Plan:
    """How a state variable is declared."""

    type: str
    name: str
    holder: str = ""  # of a hoisted one: the std::optional that has it, if it cannot be assigned to
    is_hoisted: bool = False
    is_alias: bool = False  # the name is a reference to what the holder has
    array: str = ""  # of a hoisted array: the struct that has it as its `values`


class States:
    def __init__(self, common: Common, locals_: Locals) -> None:
        self._common = common
        self._layout = common.layout
        self._body = common.body
        self._words = common.words
        self._source = common.source
        self._settings = common.settings
        self._edits = common.edits
        self._found = common.found
        self._reach = common.reach
        self._locals = locals_
        self.plans: dict[str, Plan] = {}

    def plan(self) -> None:
        """Decides about all state variables, before anything is edited."""
        alive: Statement | None = None  # the first statement with a local with a destruction that can be observed
        for top in self._body.statements:
            self._plan_statement(top, alive or top, self._body)
            if not self._reach.completes_before_wait(top):
                alive = None
            if alive is None and self._settings.is_exact and self._locals.declares_risky(top):
                alive = top

    def _plan_statement(self, statement: Statement, top: Statement, block: syntax.Block) -> None:
        """`top`: the statement of the outermost block in front of which a state can be declared, at the latest. States
        are destroyed after all locals, so it must be before those that exist."""
        owner = statement
        if isinstance(statement, syntax.For | syntax.RangeFor) and isinstance(statement.init, StateDecl):
            self._decide(statement.init.type, statement.init.name, statement.init, top, block, owner)
        elif isinstance(statement, StateDecl):
            self._decide(statement.type, statement.name, statement, top, block, None)
        elif isinstance(statement, syntax.Wait):
            self._plan_result(statement.wait, top, block)
        results = {when.body: when.wait for when in statement.whens} if isinstance(statement, syntax.Choose) else {}
        for inner_block in syntax.children(statement):
            if inner_block in results:
                self._plan_result(results[inner_block], top, inner_block)
            for inner in inner_block.statements:
                self._plan_statement(inner, top, inner_block)

    def _plan_result(self, wait: syntax.WaitExpr, top: Statement, block: syntax.Block) -> None:
        """Visits the states in order. States are destroyed in the reverse order of their declarations, so a branch of a
        choose comes before the result of the next."""
        if wait.result is not None and wait.result.is_state and wait.result.type is not None:
            self._decide(wait.result.type, wait.result.name, wait, top, block, None)

    def _decide(
        self,
        type_: Code,
        name: str,
        node: syntax.Node,
        top: Statement,
        block: syntax.Block,
        header_of: Statement | None,
    ) -> None:
        """`header_of`: the loop with the header that it is in."""
        text = one_line(self._common.text(type_))
        scope = header_of.span if header_of is not None else self._scope(block, node)
        known_after = Span(node.span.start, scope.end)
        elsewhere = self._is_used_outside(name, known_after)
        is_top = (
            block is self._body and header_of is None and (self._is_harmless(text) or top.span.end > node.span.start)
        )
        if is_top and not self._is_used_outside(name, Span(node.span.start, self._body.span.end)):
            self.plans[name] = Plan(text, name)
            return
        if not elsewhere and not is_top and self._may_stay(text, name, known_after):
            self.plans[name] = Plan(text, name)
            return
        if not self._settings.is_exact and not elsewhere:
            self.plans[name] = Plan(text, name)
            escapes = is_trivial(text) and self._escapes(name, known_after)
            if escapes or not is_trivial(text):
                how = ", and its address may be kept" if escapes else ""
                self._common.note(
                    Hazard.BLOCK_STATE,
                    node.span,
                    f"`{name}` is destroyed at the end of its block{how}; as a state it lived to the end of the actor",
                    f"declare `{name}` at the top of the function and assign to it here",
                )
            return
        before = (
            self._body.statements[0] if self._is_used_outside(name, Span(top.span.start, self._body.span.end)) else top
        )
        self._hoist(text, name, node, before, elsewhere=elsewhere)

    def _is_harmless(self, type_: str) -> bool:
        return is_harmless(type_, self._common.classes.harmless)

    def _scope(self, block: syntax.Block, node: syntax.Node) -> Span:
        """The block, or the section of a `switch`, that something stands in: sections that declare get blocks."""
        labels = [inner.span.start for inner in block.statements if isinstance(inner, syntax.Case)]
        end = min((start for start in labels if start > node.span.start), default=block.span.end)
        return Span(block.span.start, end)

    def _is_used_outside(self, name: str, span: Span) -> bool:
        """Whether the actor's body means the state by that name outside of a span."""
        body = self._body.span
        places = [
            *self._common.places(name, Span(body.start, span.start)),
            *self._common.places(name, Span(span.end, body.end)),
        ]
        others = self._scopes_of_locals(name) if places else []
        starts = self._words.starts
        return any(not any(each.start <= starts[index] < each.end for each in others) for index in places)

    def _scopes_of_locals(self, name: str) -> list[Span]:
        """Where plain locals have the name."""
        found = []
        for block in (self._body, *(each for each in syntax.walk(self._body) if isinstance(each, syntax.Block))):
            for statement in block.statements:
                if isinstance(statement, syntax.Plain) and any(local.name == name for local in statement.locals):
                    found.append(Span(statement.span.start, block.span.end))
                elif isinstance(statement, (syntax.If, syntax.Switch)) and self._names_local(name, statement.condition):
                    found.append(statement.span)
                elif isinstance(statement, (syntax.For, syntax.RangeFor)):
                    init = statement.init
                    found += [statement.span] if isinstance(init, Code) and self._names_local(name, init) else []
        return found

    def _names_local(self, name: str, head: Code) -> bool:
        """Whether `T name` stands in it."""
        first, _ = self._words.between(head.span)
        texts = self._words.texts
        before = (texts[index - 1] for index in self._common.places(name, head.span) if index > first)
        return any(text.isidentifier() or text in (">", "&", "*") for text in before)

    def _may_stay(self, type_: str, name: str, span: Span) -> bool:
        """Whether the difference cannot be observed: a number without references to it."""
        if not is_trivial(type_):
            return False
        if self._has_address_taken(name, span):
            return False
        texts = self._words.texts
        for index in self._common.places(name, span):
            is_argument = texts[index - 1] in ("(", ",") and texts[index + 1] in (")", ",")
            if is_argument and not self._is_number_call(index):
                return False
        return not self._is_captured(span)

    def _has_address_taken(self, name: str, span: Span) -> bool:
        """`&x`, of which a capture may be one."""
        texts = self._words.texts
        before = ("(", ",", "=", "[", "return", "&", "{", ";")
        return any(texts[i - 1] == "&" and texts[i - 2] in before for i in self._common.places(name, span))

    def _escapes(self, name: str, span: Span) -> bool:
        """Whether its address is taken, or a lambda behind it that names it may have it."""
        first, end = self._words.between(span)
        texts, starts = self._words.texts, self._words.starts
        captured = (i for i in range(first, end) if texts[i] == "[" and texts[i + 1] == "&" and texts[i + 2] in ",]")
        return self._has_address_taken(name, span) or any(
            self._common.uses(name, Span(starts[index], span.end)) for index in captured
        )

    def _is_number_call(self, index: int) -> bool:
        """Whether the argument goes to a function that is known to keep no reference."""
        texts, depth = self._words.texts, 0
        while index > 0:
            index -= 1
            depth += (texts[index] == ")") - (texts[index] == "(")
            if depth < 0:
                return texts[index - 1] in ("delay", "if", "while", "for", "switch", "sizeof")
        return False

    def _is_captured(self, span: Span) -> bool:
        """Whether a lambda in the span may hold references to what is around it."""
        first, end = self._words.between(span)
        texts = self._words.texts
        return any(texts[i] == "[" and texts[i + 1] in ("&", "this", "=") for i in range(first, end))

    def _hoist(self, type_: str, name: str, node: syntax.Node, before: Statement, *, elsewhere: bool) -> None:
        self._found.count("state moved out of its block")
        if isinstance(node, StateDecl) and node.extents is not None:
            self._hoist_array(type_, name, node, before, elsewhere=elsewhere)
            return
        if type_.endswith("&"):
            raise UnconvertibleError(f"the reference `{name}` is a state in a block and is used after the block")
        is_assignable = is_surely_assignable(type_) or type_ in self._common.classes.assignable
        if (is_assignable and not is_constant(type_)) or elsewhere or self._settings.is_foundationdb:
            if is_constant(type_):
                raise UnconvertibleError(f"the constant `{name}` is used outside of its block")
            self.plans[name] = Plan(type_, name, is_hoisted=True)
            mark = self._common.unused_mark(type_, name, declared=node.span)
            self._layout.before(before.span.start, f"{mark}{type_} {name}{'{}' if self._needs_value(type_) else ''};")
            return
        holder = self._common.unused(f"{name}State")
        self.plans[name] = Plan(type_, name, holder, is_hoisted=True, is_alias=True)
        self._layout.before(before.span.start, f"std::optional<{type_}> {holder};")

    def _hoist_array(self, type_: str, name: str, node: StateDecl, before: Statement, *, elsewhere: bool) -> None:
        if elsewhere:
            raise UnconvertibleError(f"the array `{name}` is a state in a block and is used outside of it")
        struct, holder = self._common.unused(f"{name[:1].upper()}{name[1:]}Array"), self._common.unused(f"{name}State")
        self.plans[name] = Plan(type_, name, holder, is_hoisted=True, array=struct)
        extents = self._common.text(node.extents)
        self._layout.before(
            before.span.start, f"struct {struct} {{ {type_} values{extents}; }}; std::optional<{struct}> {holder};"
        )

    # -----------------------------------------------------------------------------------------------------------

    def state(self, decl: StateDecl, place: Place) -> None:
        self._found.count("state")
        plan = self.plans[decl.name]
        self._separate(decl, place)
        first, end = self._words.between(decl.span)
        keyword = self._words.span(first)
        if not plan.is_hoisted:
            mark = self._common.unused_mark(plan.type, decl.name, declared=decl.span)
            if decl.comma is None:
                self._edits.replace(self._common.with_blank(keyword), mark)
            else:
                self._edits.insert(decl.span.start, f"{mark}{plan.type} ")
            self._initialise(decl, plan)
            return
        name = next(
            i
            for i in range(first, end)
            if self._words.starts[i] >= decl.type.span.end and self._words.texts[i] == decl.name
        )
        head = Span(decl.span.start, self._words.span(name).end)
        rest_start = head.end
        stop = self._end_of(decl)
        value: list[Part] = [] if decl.init is None else [decl.init.span]
        if plan.array:
            listed = (
                value
                if decl.init is not None and self._common.text(decl.init).startswith(("{", '"'))
                else ["{", *value, "}"]
            )
            made: list[Part] = [f"auto& {decl.name} = {plan.holder}.emplace({plan.array}{{", *listed, "}).values"]
            self._edits.replace(Span(head.start, stop), *made)
            return
        if not plan.holder:
            self._edits.replace(Span(head.start, stop), f"{decl.name} = ", *self.made(decl, plan, value))
            return
        is_visible = self._layout.has_braces(place.block) or place.block.span != decl.span
        is_named = is_visible and self._common.uses(decl.name, Span(rest_start, self._body.span.end))
        alias = f"{plan.type}& {decl.name} = " if is_named else ""
        arguments: list[Part] = value
        # The new value is made before the old one is destroyed.
        if decl.form in (StateForm.BRACE, StateForm.PAREN) or (
            decl.form is StateForm.ASSIGN and self._common.text(decl.init).startswith("{")
        ):
            arguments = self.made(decl, plan, value)
        self._edits.replace(Span(head.start, stop), f"{alias}{plan.holder}.emplace(", *arguments, ")")

    def _separate(self, decl: StateDecl, place: Place) -> None:
        """One declaration for each variable, and a statement for a member function that is called on it."""
        if decl.comma is not None:
            if not self._layout.has_braces(place.block) and place.block.span.start >= decl.type.span.start - len(
                "state "
            ):
                raise UnconvertibleError("several states are declared where one statement can stand")
            self._edits.replace(decl.comma, ";")
        if decl.chained is not None:
            self._edits.insert(self._end_of(decl), ";", rank=1)
            self._edits.insert(decl.chained.span.start, decl.name, rank=1)

    def _end_of(self, decl: StateDecl) -> int:
        """Where the declaration ends, its `;` excluded."""
        if decl.chained is not None:
            return self._words.span(self._words.first(decl.chained.span) - 1).end
        return decl.span.end - (self._source.text[decl.span.end - 1] == ";")

    def made(self, decl: StateDecl, plan: Plan, value: list[Part]) -> list[Part]:
        """An expression for the new value of the state."""
        type_ = callable_type(plan.type.removeprefix("const ").removesuffix(" const"))
        if decl.init is None:
            return [f"{type_}()"]
        match decl.form:
            case StateForm.PAREN:
                return [f"{type_}(", *value, ")"]
            case StateForm.BRACE:
                return [f"{type_}{{", *value, "}"]
            case _ if self._common.text(decl.init).startswith("{") and plan.holder:
                return [type_, *value]
            case _:
                return value

    def _initialise(self, decl: StateDecl, plan: Plan) -> None:
        """What follows the name of a state that stays where it is."""
        semicolon = self._end_of(decl)
        if decl.init is None and decl.form is StateForm.BRACE:
            return
        if decl.init is None:
            _, end = self._words.between(Span(decl.span.start, semicolon))
            if self._words.texts[end - 1] == ")":
                open_ = self._words.span(end - 2)
                self._edits.replace(Span(open_.start, semicolon), "{}")
            elif self._needs_value(plan.type) or decl.extents is not None:
                self._edits.insert(semicolon, "{}", rank=-1)
                self._found.count("state given its value")
            return
        init = self._common.text(decl.init)
        if decl.extents is not None:
            return
        if decl.form is StateForm.PAREN and may_read_as_parameters(init, is_one=False):
            self._edits.insert(decl.init.span.start, "(", rank=-1)
            self._edits.insert(decl.init.span.end, ")", rank=-1)
        if decl.form is StateForm.ASSIGN and self._settings.is_exact and not converts(plan.type, init):
            equals = self._equals(decl.span, decl.init)
            if init.startswith("{"):
                self._edits.replace(Span(equals.start, decl.init.span.start))
                return
            several = may_read_as_parameters(one_line(init), is_one=True)
            start = equals.start
            while self._source.text[start - 1] in " \t":
                start -= 1
            self._edits.replace(
                Span(start, decl.init.span.end), "((" if several else "(", decl.init.span, "))" if several else ")"
            )

    def _equals(self, span: Span, init: Code) -> Span:
        index = self._words.first(init.span) - 1
        assert self._words.texts[index] == "="
        return self._words.span(index)

    def _needs_value(self, type_: str) -> bool:
        """Whether `T x;` may leave it without a value."""
        return not is_surely_empty(type_)
