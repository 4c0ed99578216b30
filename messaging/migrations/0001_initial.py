"""The tables of messaging, and what Django's models cannot say of them on PostgreSQL."""

import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

def create_search_index(apps, schema_editor):
    """Finds a rare word in a long conversation. SQLite reads the rows."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        schema_editor.execute(
            "CREATE INDEX message_search ON messaging_message USING gin (body_folded gin_trgm_ops)"
        )


def leave_room(apps, schema_editor):
    """Space in each page for the next version of a row that every message changes (HOT)."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE messaging_participant SET (fillfactor = 80)")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purged_up_to_id', models.BigIntegerField(default=0, verbose_name='cleared up to message')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('user_high', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='second person')),
                ('user_low', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='first person')),
            ],
            options={
                'verbose_name': 'conversation',
                'verbose_name_plural': 'conversations',
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('text', 'text'), ('image', 'image'), ('call', 'call')], default='text', max_length=5, verbose_name='kind')),
                ('body', models.TextField(blank=True, null=True)),
                ('body_folded', models.TextField(blank=True)),
                ('reply_to_id', models.BigIntegerField(blank=True, null=True, verbose_name='reply to message')),
                ('call_id', models.BigIntegerField(blank=True, null=True)),
                ('call_media', models.CharField(blank=True, max_length=5)),
                ('call_outcome', models.CharField(blank=True, max_length=10)),
                ('call_duration_s', models.PositiveIntegerField(blank=True, null=True)),
                ('client_id', models.CharField(blank=True, max_length=64, null=True)),
                ('request_digest', models.CharField(blank=True, max_length=64)),
                ('counts_as_unread', models.BooleanField(default=True)),
                ('edited_at', models.DateTimeField(blank=True, null=True, verbose_name='edited at')),
                ('deleted_at', models.DateTimeField(blank=True, null=True, verbose_name='deleted at')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('conversation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='messaging.conversation', verbose_name='conversation')),
                ('image', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.image')),
                ('sender', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='sender')),
            ],
            options={
                'verbose_name': 'message',
                'verbose_name_plural': 'messages',
                'permissions': [('reveal_message', 'Can reveal the text of messages, with a reason')],
            },
        ),
        migrations.CreateModel(
            name='MessageRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='messaging.message')),
            ],
            options={
                'verbose_name': 'earlier version of a message',
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('last_read_id', models.BigIntegerField(default=0)),
                ('delivered_id', models.BigIntegerField(default=0)),
                ('cleared_up_to_id', models.BigIntegerField(default=0)),
                ('unread_count', models.PositiveIntegerField(default=0)),
                ('last_message_id', models.BigIntegerField(blank=True, null=True)),
                ('activity_id', models.BigIntegerField(default=0)),
                ('has_written', models.BooleanField(default=False)),
                ('is_shown', models.BooleanField(default=True)),
                ('conversation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='messaging.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'participant',
            },
        ),
        migrations.CreateModel(
            name='Reaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('emoji', models.CharField(max_length=40)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('message', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reactions', to='messaging.message')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'reaction',
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=100, verbose_name='reason')),
                ('comment', models.TextField(blank=True, verbose_name='comment')),
                ('snapshot', models.JSONField(default=dict, verbose_name='reported text')),
                ('state', models.CharField(choices=[('open', 'open'), ('resolved', 'resolved'), ('dismissed', 'dismissed')], db_index=True, default='open', max_length=10, verbose_name='state')),
                ('turn', models.PositiveIntegerField(default=0, editable=False)),
                ('resolution', models.CharField(blank=True, max_length=500, verbose_name='resolution')),
                ('resolved_at', models.DateTimeField(blank=True, null=True, verbose_name='resolved at')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='reported at')),
                ('message', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to='messaging.message', verbose_name='message')),
                ('reported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='reported person')),
                ('reporter', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='reported by')),
                ('resolved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='resolved by')),
            ],
            options={
                'verbose_name': 'report',
                'verbose_name_plural': 'reports',
                'permissions': [('resolve_report', 'Can close reports')],
            },
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(fields=('user_low', 'user_high'), name='conversation_pair'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('user_low__lt', models.F('user_high'))), name='conversation_ordered'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(models.F('conversation'), django.db.models.expressions.CombinedExpression(models.F('id'), '*', models.Value(-1)), name='message_keyset'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('client_id__isnull', False)), fields=('sender', 'client_id'), name='message_client_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('image__isnull', False)), fields=('image',), name='message_image'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('call_id__isnull', False)), fields=('call_id',), name='message_call'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('conversation', 'user'), name='participant_once'),
        ),
        migrations.AddConstraint(
            model_name='reaction',
            constraint=models.UniqueConstraint(fields=('message', 'user', 'emoji'), name='reaction_once'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['turn', '-id'], name='report_turn'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.UniqueConstraint(fields=('message', 'reporter'), name='report_once'),
        ),
        migrations.RunPython(create_search_index, migrations.RunPython.noop),
        migrations.RunPython(leave_room, migrations.RunPython.noop),
    ]
